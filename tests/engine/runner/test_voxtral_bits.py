"""In every precision what a turn computes depends on its own audio alone, to the last bit.

Tokens of a float32 model hardly ever tell a sum that was added in another order; those of smaller types do now and
then, each then being the next one's input. So what is compared is the decoder's output at every position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_voxtral import TINY, build, warbling
from torch import Tensor
from voxtral_turns import Turn, run, runner_of, transcribe

from sayso.engine.modules.packed_linear import packing_works
from sayso.engine.modules.voxtral_realtime import Seat
from sayso.engine.runner.voxtral_realtime import VoxtralRunner

with_onednn = pytest.mark.skipif(not packing_works(), reason="without oneDNN float32 products keep no order")
WITHOUT = 1e-4
"""How much may differ then: five times what was measured."""
PRECISIONS = ("float32", "bfloat16", "int8", "int8/int8")
"""Each kind of layer, fused and plain. The others mix these; they are compared by ``make soak``."""
MIXED = ("float16", "int8/float32", "float32/bfloat16", "float32/int8")
SIZES = replace(
    TINY,
    encoder_width=384,
    encoder_layers=2,
    encoder_window=400,
    layers=2,
    inner=1536,
    window=100,
)
"""Products of rows so long that their order could differ, and windows that fill while the turns last."""
DELAYS_MS = (80, 480, 240)
SOUNDS = [warbling(seconds, seed) for seed, seconds in enumerate((1.2, 0.4, 1.6))]


class Watched:
    """A runner, and what its decoder gave at each position of each delay; told again it must be the same."""

    def __init__(self, runner: VoxtralRunner, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runner = runner
        self.given: dict[tuple[int, int], Tensor] = {}
        self.others = 0
        """Outputs that differed from those before."""
        self.most = 0.0
        """By how much, as a share of an output's spread."""
        model, hidden = self.runner._model, self.runner._model._hidden

        def watch(seats: list[Seat], tokens: Tensor, audio: Tensor) -> Tensor:
            found = hidden(seats, tokens, audio)
            for seat, row in zip(seats, found[:, -1], strict=True):
                known = self.given.setdefault((seat.delay, seat.decoded), row.clone())
                self.others += not torch.equal(known, row)
                self.most = max(self.most, float((known - row).abs().max() / known.std()))
            return found

        monkeypatch.setattr(model, "_hidden", watch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny"), SIZES, scale=0.12)


@pytest.fixture(scope="module", params=[*PRECISIONS, *(pytest.param(each, marks=pytest.mark.soak) for each in MIXED)])
def watched(folder: Path, request: pytest.FixtureRequest) -> Iterator[Watched]:
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        made = Watched(runner_of(folder, request.param), patch)
        for sound, delay_ms in zip(SOUNDS, DELAYS_MS, strict=True):
            transcribe(made.runner, sound, delay_ms, chunk=1280)
        yield made
    torch.set_num_threads(threads)


@with_onednn
def test_audio_as_a_whole_and_in_chunks_is_the_same(watched: Watched) -> None:
    for chunk in (None, 9_000):
        for sound, delay_ms in zip(SOUNDS, DELAYS_MS, strict=True):
            transcribe(watched.runner, sound, delay_ms, chunk)
    assert watched.others == 0


SCHEDULES = st.lists(
    st.one_of(
        st.tuples(st.just("hear"), st.integers(0, 2), st.integers(200, 15_000)),
        st.tuples(st.just("step"), st.sets(st.integers(0, 2), min_size=1), st.integers(1, 4)),
        st.tuples(st.sampled_from(["pack", "forget"]), st.integers(0, 2), st.just(0)),
        st.tuples(st.just("threads"), st.integers(1, 4), st.just(0)),
    ),
    min_size=6,
    max_size=25,
)


@with_onednn
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCHEDULES)
def test_whoever_shares_a_step_on_however_many_threads_and_whatever_was_put_away(
    watched: Watched, schedule: list[tuple[str, int | set[int], int]]
) -> None:
    runner, heard = watched.runner, [0] * len(SOUNDS)
    turns = [Turn(runner, delay_ms) for delay_ms in DELAYS_MS]

    def hear(number: int, samples: int) -> None:
        turns[number].hear(SOUNDS[number][heard[number] : heard[number] + samples])
        heard[number] += samples
        if heard[number] >= len(SOUNDS[number]):
            turns[number].end()

    for act, what, count in schedule:
        if act == "step":
            assert isinstance(what, set)
            for _ in range(count):
                if taking := [turns[number].stream for number in sorted(what) if turns[number].ready]:
                    runner.run(taking)
                for turn in turns:
                    turn.collect()
            continue
        assert isinstance(what, int)
        stream = turns[what % 3].stream
        if act == "hear":
            hear(what, count)
        elif act == "threads":
            torch.set_num_threads(what)
        elif stream.seat is not None and not turns[what].ready:
            stream.unpack(stream.pack()) if act == "pack" else stream.forget()
    for number, sound in enumerate(SOUNDS):
        hear(number, len(sound))
    run(runner, turns)
    assert watched.others == 0


def test_without_onednn_only_the_last_bits_of_float32_differ(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.engine.modules.builder.packing_works", lambda: False)
    watched = Watched(runner_of(folder), monkeypatch)
    for chunk in (1280, None):
        transcribe(watched.runner, SOUNDS[0], chunk=chunk)
    assert watched.most < WITHOUT
