"""Sessions parked from a GPU: host memory holds what the ledger says, the place is free, and the same tokens follow.

A model reserves the memory of all its places when it is loaded, so what parking frees on a GPU is a place.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_voxtral import SMALL, build, warbling
from voxtral_turns import Turn, run, transcribe

from sayso.engine.errors import EngineError
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime
from sayso.engine.parcel import Vault
from sayso.engine.runner.voxtral_realtime import VoxtralRunner

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
    pytest.mark.timeout(600),
]

DEVICE = torch.device("cuda")
SECONDS = 20.0
ROUNDS = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("small"), SMALL, scale=0.04)


def runner_with(folder: Path, places: int) -> VoxtralRunner:
    # Float32 products must not be rounded to TF32, or tokens would differ by the size of a batch.
    torch.backends.cuda.matmul.allow_tf32 = False
    model = VoxtralRealtime.load(folder, DEVICE, choose_precision("float32", DEVICE), places)
    runner = VoxtralRunner(model, "small", fixed_steps=DEVICE.type == "cuda")
    runner.warm()
    return runner


def spoken_half(runner: VoxtralRunner, samples: np.ndarray) -> Turn:
    turn = Turn(runner)
    turn.hear(samples[: len(samples) // 2])
    run(runner, [turn])
    return turn


def finish(runner: VoxtralRunner, turn: Turn, samples: np.ndarray) -> None:
    turn.hear(samples[len(samples) // 2 :])
    turn.end()
    run(runner, [turn])


def synchronize() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize(DEVICE)


def test_a_parked_session_frees_its_place_and_goes_on_with_the_same_tokens(folder: Path) -> None:
    samples = warbling(SECONDS)
    runner = runner_with(folder, places=1)
    expected = transcribe(runner, samples).tokens
    turn, other = spoken_half(runner, samples), Turn(runner)
    held = turn.stream.holding.kv
    with pytest.raises(EngineError) as refused:
        other.stream.sit()
    assert refused.value.code == "session_limit"
    parcel = turn.stream.pack()
    assert turn.stream.holding.kv == 0
    assert held <= parcel.nbytes <= 1.1 * held
    other.hear(samples)
    other.end()
    run(runner, [other])
    assert other.tokens == expected
    turn.stream.unpack(parcel)
    assert turn.stream.holding.kv == held
    finish(runner, turn, samples)
    assert turn.tokens == expected


def test_a_session_goes_through_a_file_and_through_being_dropped_with_the_same_tokens(
    folder: Path, tmp_path: Path
) -> None:
    samples, vault = warbling(SECONDS), Vault(tmp_path)
    runner = runner_with(folder, places=2)
    expected = transcribe(runner, samples).tokens
    turn = spoken_half(runner, samples)
    turn.stream.unpack(vault.fetch(vault.store(turn.stream.pack())))
    finish(runner, turn, samples)
    assert turn.tokens == expected
    turn = spoken_half(runner, samples)
    turn.stream.forget()
    turn.stream.unpack(None)
    finish(runner, turn, samples)
    assert turn.tokens == expected
    vault.close()


def test_how_long_parking_and_coming_back_take(folder: Path) -> None:
    samples, parked, back = warbling(SECONDS), [], []
    runner = runner_with(folder, places=2)
    expected = transcribe(runner, samples).tokens
    turn = spoken_half(runner, samples)
    megabytes = turn.stream.holding.kv / 1e6
    for _ in range(ROUNDS):
        synchronize()
        began = time.perf_counter()
        parcel = turn.stream.pack()
        synchronize()
        packed = time.perf_counter()
        turn.stream.unpack(parcel)
        synchronize()
        parked.append(1000 * (packed - began))
        back.append(1000 * (time.perf_counter() - packed))
    print(f"{megabytes:.1f} MB: to host memory in {min(parked):.1f} ms, back in {min(back):.1f} ms")
    finish(runner, turn, samples)
    assert turn.tokens == expected
