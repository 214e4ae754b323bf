"""Sessions parked from a GPU: its memory is free for other programs, and the same tokens follow."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_voxtral import SMALL, build, warbling
from voxtral_turns import Turn, run, transcribe

from sayso.engine.device_memory import CudaMemory, DeviceMemory, device_memory
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


def runner_with(folder: Path, places: int, memory: DeviceMemory | None = None) -> VoxtralRunner:
    # Float32 products must not be rounded to TF32, or tokens would differ by the size of a batch.
    torch.backends.cuda.matmul.allow_tf32 = False
    memory = memory or device_memory(DEVICE)
    model = VoxtralRealtime.load(folder, DEVICE, choose_precision("float32", DEVICE), places, memory)
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
    assert parcel.nbytes <= 1.1 * held
    other.hear(samples)
    other.end()
    run(runner, [other])
    assert other.tokens == expected
    turn.stream.unpack(parcel)
    assert turn.stream.holding.kv == held
    finish(runner, turn, samples)
    assert turn.tokens == expected


def free_bytes() -> int:
    """Memory of the device that any program could take, torch's own reserve given back."""
    synchronize()
    torch.cuda.empty_cache()
    return int(torch.cuda.mem_get_info(DEVICE)[0])


def test_memory_of_this_device_can_be_mapped() -> None:
    assert isinstance(device_memory(DEVICE), CudaMemory)


def test_a_place_takes_device_memory_while_somebody_has_it_and_a_parked_session_frees_it(folder: Path) -> None:
    samples = warbling(SECONDS)
    runner = runner_with(folder, places=64)
    expected = transcribe(runner, samples).tokens
    assert runner.mapped_bytes == 0
    turns = [spoken_half(runner, samples) for _ in range(4)]
    held, mapped, before = turns[1].stream.holding.kv, runner.mapped_bytes, free_bytes()
    assert held > 10e6
    # One in the middle goes, and the others step on over its place.
    parcel = turns[1].stream.pack()
    assert mapped - runner.mapped_bytes == held
    assert free_bytes() - before >= 0.95 * held
    for number in (0, 2, 3):
        finish(runner, turns[number], samples)
        assert turns[number].tokens == expected
    turns[1].stream.unpack(parcel)
    finish(runner, turns[1], samples)
    assert turns[1].tokens == expected
    assert runner.mapped_bytes == 0


def test_a_model_that_is_dropped_gives_all_of_its_memory_back(folder: Path) -> None:
    before = free_bytes()
    runner = runner_with(folder, places=8)
    turn = spoken_half(runner, warbling(SECONDS))
    assert before - free_bytes() > turn.stream.holding.kv
    del runner, turn
    gc.collect()
    # What CUDA and its libraries keep for themselves stays, their first use included.
    assert before - free_bytes() < 200e6


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
