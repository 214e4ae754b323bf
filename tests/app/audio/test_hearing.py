"""What one stream's reading thread tells the event loop: all of what is said, and of a quiet room nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from noises import white_noise

from sayso.app.audio.gate import Ended, GateEvent, GateOptions, Started, Voiced
from sayso.app.audio.hearing import Heard, Hearing
from sayso.app.audio.pipeline import Pipeline, Samples
from sayso.app.snapshot import MicrophoneState

RATE = 16_000
BECKETT = Path(__file__).parents[2] / "data" / "beckett.wav"


class Clock:
    """Runs on by what was heard."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Room:
    """A hearing whose blocks come in time, and how often it has rung."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.rings = 0
        self.hearing = Hearing(RATE, 1, GateOptions(), self._ring, self.clock, lambda: self.clock.now_s + 1e9)

    def _ring(self) -> None:
        self.rings += 1

    def hear(self, samples: Samples, block: int = 1600) -> list[bool]:
        """Whether the next block may be long, after each."""
        calm = []
        for start in range(0, len(samples), block):
            piece = samples[start : start + block]
            self.clock.now_s += len(piece) / RATE
            calm.append(self.hearing.take(piece[:, None]))
        return calm


def speech() -> Samples:
    samples, rate = soundfile.read(BECKETT, dtype="float32")
    assert rate == RATE
    return np.concatenate((samples, np.zeros(RATE, np.float32)))


def quiet(seconds: float) -> Samples:
    return white_noise(seconds, -66.0)


def events_of(news: list[Heard]) -> list[GateEvent]:
    return [dated.event for heard in news for dated in heard.events]


def test_a_quiet_room_is_told_once_and_then_no_more() -> None:
    room = Room()
    room.hear(quiet(1.0))
    assert room.hearing.collect()[-1].state is MicrophoneState.READY
    rings = room.rings
    room.hear(quiet(20.0))
    assert room.rings == rings
    assert room.hearing.collect() == []
    assert room.hearing.blocks == 210


def test_all_that_is_said_comes_out_as_from_the_pipeline_alone() -> None:
    samples = speech()
    whole = Pipeline(RATE, 1)
    expected = [
        event for start in range(0, len(samples), 1600) for event in whole.feed(samples[start:, None][:1600])[1]
    ]
    room = Room()
    calm = room.hear(samples)
    heard = events_of(room.hearing.collect())
    assert [type(event) for event in heard] == [type(event) for event in expected]
    for one, other in zip(heard, expected, strict=True):
        if isinstance(one, Voiced) and isinstance(other, Voiced):
            np.testing.assert_array_equal(one.samples, other.samples)
    assert False in calm
    assert calm[0] is calm[-1] is True


def test_an_utterance_has_the_times_of_its_samples() -> None:
    room = Room()
    room.hear(speech())
    started, *_, ended = [
        dated for heard in room.hearing.collect() for dated in heard.events if isinstance(dated.event, Started | Ended)
    ]
    assert started.at - 1e9 == pytest.approx(100.0 + started.event.sample / RATE, abs=0.1)
    assert ended.at - 1e9 == pytest.approx(100.0 + ended.event.sample / RATE, abs=0.1)


def test_silence_and_sound_are_told_with_the_level_of_each() -> None:
    room = Room()
    room.hear(np.zeros(2 * RATE, np.float32))
    room.hear(quiet(1.0))
    told = [(heard.state, heard.level.db if heard.level else None) for heard in room.hearing.collect()]
    assert [state for state, _ in told] == [MicrophoneState.READY, MicrophoneState.NO_SIGNAL, MicrophoneState.READY]
    assert told[1][1] == -96.0
    assert told[2][1] == pytest.approx(-66.0, abs=1.0)


def test_a_level_is_told_when_it_looks_different_and_when_it_clips() -> None:
    room = Room()
    room.hear(white_noise(1.0, -40.0))
    room.hearing.collect()
    room.hear(white_noise(0.1, -30.0))
    (louder,) = room.hearing.collect()
    assert louder.level is not None
    assert louder.level.db == pytest.approx(-30.0, abs=1.0)
    room.hear(np.ones(1600, np.float32))
    assert room.hearing.collect()[-1].level.clipping  # type: ignore[union-attr]


def test_a_key_that_is_pressed_makes_one_utterance_of_all_until_it_is_let_go() -> None:
    room = Room()
    room.hear(quiet(1.0))
    room.hearing.press()
    room.hear(quiet(1.0))
    assert room.hearing.hears_voice
    room.hearing.release()
    room.hear(quiet(1.0))
    kinds = [type(event) for event in events_of(room.hearing.collect())]
    assert kinds[0] is Started
    assert kinds[-1] is Ended
    assert set(kinds[1:-1]) == {Voiced}


def test_closing_ends_an_open_utterance_and_hears_nothing_more() -> None:
    room = Room()
    room.hearing.press()
    room.hear(quiet(0.5))
    room.hearing.collect()
    assert [type(dated.event) for dated in room.hearing.close()][-1] is Ended
    room.hear(speech())
    assert room.hearing.collect() == []


def test_sound_that_was_lost_before_it_was_read_is_told_with_its_length() -> None:
    room = Room()
    room.hear(quiet(5.0))
    room.clock.now_s += 3.0
    room.hear(quiet(5.0))
    assert sum(heard.missed_s for heard in room.hearing.collect()) == pytest.approx(3.0, abs=0.2)


def test_a_minute_that_nobody_collects_is_kept_and_what_comes_after_it_told_as_missed() -> None:
    room = Room()
    room.hearing.press()
    room.hear(quiet(70.0))
    kept = events_of(room.hearing.collect())
    kept_s = sum(len(event.samples) for event in kept if isinstance(event, Voiced)) / RATE
    assert kept_s == pytest.approx(60.0, abs=0.2)
    room.hear(quiet(1.0))
    assert sum(heard.missed_s for heard in room.hearing.collect()) == pytest.approx(10.0, abs=0.2)


def test_a_thread_that_reads_and_a_loop_that_collects_lose_nothing_between_them() -> None:
    samples = speech()
    room = Room()
    room.hearing.press()
    reading = threading.Thread(target=room.hear, args=(samples, 400))
    reading.start()
    news: list[Heard] = []
    deadline = time.monotonic() + 30
    while reading.is_alive() and time.monotonic() < deadline:
        news += room.hearing.collect()
    reading.join(1)
    news += room.hearing.collect()
    voiced = [event.samples for event in events_of(news) if isinstance(event, Voiced)]
    whole = np.concatenate(voiced)
    np.testing.assert_array_equal(whole, samples[: len(whole)])
    assert len(samples) - len(whole) < 512
