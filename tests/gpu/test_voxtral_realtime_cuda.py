"""Voxtral Realtime on a GPU: recorded steps give the tokens of the CPU, and more sessions cost little more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from tiny_voxtral import PUBLISHED, build, warbling
from voxtral_turns import Turn, run, runner_of, transcribe

from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime
from sayso.engine.runner.voxtral_realtime import VoxtralRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("tiny"))


def on_cuda(folder: Path, *, fixed_steps: bool) -> VoxtralRunner:
    device = torch.device("cuda")
    # Float32 products must not be rounded to TF32, or tokens would be compared with another type's.
    torch.backends.cuda.matmul.allow_tf32 = False
    model = VoxtralRealtime.load(folder, device, choose_precision("float32", device), 8)
    return VoxtralRunner(model, "tiny", fixed_steps=fixed_steps)


@pytest.mark.parametrize("fixed_steps", [False, True])
def test_the_tokens_are_those_of_the_cpu(folder, fixed_steps) -> None:
    sound = warbling(5.0)
    assert (
        transcribe(on_cuda(folder, fixed_steps=fixed_steps), sound).tokens
        == transcribe(runner_of(folder), sound).tokens
    )


def test_sessions_of_mixed_ages_and_delays_equal_each_alone_in_recorded_steps(folder) -> None:
    delays, sounds = (480, 80, 2400), [warbling(3.0, seed) for seed in range(3)]
    runner = on_cuda(folder, fixed_steps=True)
    alone = [transcribe(runner, sound, delay).tokens for sound, delay in zip(sounds, delays, strict=True)]
    turns = [Turn(runner, delay) for delay in delays]
    for at in range(0, 64_000, 1280):
        for number, (turn, sound) in enumerate(zip(turns, sounds, strict=True)):
            begin = at - number * 3_840
            if 0 <= begin < len(sound):
                turn.hear(sound[begin : begin + 1280])
        run(runner, turns)
    for turn in turns:
        turn.end()
    run(runner, turns)
    assert [turn.tokens for turn in turns] == alone


def test_eight_sessions_of_the_published_shape_keep_up_with_real_time() -> None:
    from voxtral_steps import measure, model_of

    best, _ = measure(model_of(PUBLISHED, "bfloat16", torch.device("cuda"), 9), 8)
    assert best < 80.0
