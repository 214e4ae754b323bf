"""When utterances start and end: the decision alone, and with the detectors on real speech and on noise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from noises import key_clicks, music, white_noise
from numpy.typing import NDArray

from sayso.app.audio.gate import Ended, Gate, GateEvent, GateOptions, Started, Voiced
from sayso.app.audio.pipeline import Pipeline
from sayso.app.audio.voice import FRAME

DATA = Path(__file__).parents[2] / "data"
MS = 16


def frames(count: int, start: int = 0) -> list[NDArray[np.float32]]:
    samples = np.arange(start * FRAME, (start + count) * FRAME, dtype=np.float32)
    return list(samples.reshape(count, FRAME))


def run(gate: Gate, probabilities: list[float], start: int = 0) -> list[GateEvent]:
    pairs = zip(frames(len(probabilities), start), probabilities, strict=True)
    return [event for frame, probability in pairs for event in gate.feed(frame, probability)]


def audio(events: list[GateEvent]) -> NDArray[np.float32]:
    return np.concatenate([event.samples for event in events if isinstance(event, Voiced)] or [np.zeros(0, np.float32)])


def kinds(events: list[GateEvent]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, Voiced)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from([0.0, 0.2, 0.4, 0.6, 1.0])), max_size=30))
def test_utterances_are_whole_in_order_and_never_overlap(runs: list[tuple[int, float]]) -> None:
    gate = Gate(GateOptions(long_ms=1500, max_ms=2500))
    events = run(gate, [probability for count, probability in runs for _ in range(count)]) + gate.close()
    assert kinds(events) == ["Started", "Ended"] * (len(kinds(events)) // 2)
    end = 0
    while events:
        started = events.pop(0)
        assert isinstance(started, Started)
        assert started.sample >= end
        count = next(index for index, event in enumerate(events) if isinstance(event, Ended))
        heard, ended = audio(events[:count]), events[count]
        assert isinstance(ended, Ended)
        end = ended.sample
        assert np.array_equal(heard, np.arange(started.sample, end, dtype=np.float32))
        del events[: count + 1]


def test_an_utterance_has_pre_roll_and_ends_after_the_pause() -> None:
    options = GateOptions()
    events = run(Gate(options), [0.0] * 50 + [0.9] * 20 + [0.0] * 30)
    started, ended = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(ended, Ended)
    assert 300 * MS <= 50 * FRAME - started.sample <= 500 * MS
    assert 0 <= ended.sample - 70 * FRAME - options.wait_ms * MS < FRAME


def test_a_single_frame_of_voice_is_no_utterance() -> None:
    assert run(Gate(), [0.0, 0.9, 0.0, 0.0, 0.9, 0.0] * 20) == []


def test_a_short_pause_does_not_end_an_utterance() -> None:
    assert kinds(run(Gate(), [0.9] * 10 + [0.0] * 15 + [0.9] * 10)) == ["Started"]


def test_expediting_shortens_the_wait() -> None:
    gate = Gate()
    run(gate, [0.9] * 20)
    gate.expedite()
    events = run(gate, [0.0] * 30, start=20)
    ended = next(event for event in events if isinstance(event, Ended))
    assert 0 <= ended.sample - 20 * FRAME - GateOptions().expedited_wait_ms * MS < FRAME


def test_expediting_within_the_wait_ends_it_at_once_where_it_is_long_enough() -> None:
    gate = Gate()
    run(gate, [0.9] * 20 + [0.0] * 12)
    gate.expedite()
    assert kinds(run(gate, [0.0], start=32)) == ["Ended"]


def test_going_on_after_expediting_takes_the_full_wait_again() -> None:
    gate = Gate()
    run(gate, [0.9] * 20)
    gate.expedite()
    events = run(gate, [0.0] * 5 + [0.9] * 5 + [0.0] * 30, start=20)
    ended = next(event for event in events if isinstance(event, Ended))
    assert ended.sample - 30 * FRAME >= GateOptions().wait_ms * MS


def test_expediting_in_silence_does_nothing_to_the_next_utterance() -> None:
    gate = Gate()
    gate.expedite()
    assert kinds(run(gate, [0.9] * 10 + [0.0] * 15)) == ["Started"]


def test_endless_speech_is_cut_at_a_short_pause_and_at_last_without_one() -> None:
    options = GateOptions(long_ms=2000, max_ms=4000)
    paused = run(Gate(options), [0.9] * 70 + [0.0] * 6 + [0.9] * 10)
    assert kinds(paused) == ["Started", "Ended", "Started"]
    endless = run(Gate(options), [0.9] * 300)
    assert kinds(endless) == ["Started", "Ended", "Started", "Ended", "Started"]
    assert len(audio(endless)) == 300 * FRAME


def test_closing_ends_what_is_open() -> None:
    gate = Gate()
    run(gate, [0.9] * 10)
    assert kinds(gate.close()) == ["Ended"]
    assert gate.close() == []


def test_a_held_key_takes_everything_from_a_little_before_it_to_a_little_after_it() -> None:
    options = GateOptions(by_voice=False)
    gate = Gate(options)
    assert run(gate, [0.9] * 40) == []
    gate.press()
    held = run(gate, [0.0] * 100, start=40)
    gate.release()
    events = held + run(gate, [0.9] * 40, start=140)
    assert kinds(events) == ["Started", "Ended"]
    started, ended = events[0], next(event for event in events if isinstance(event, Ended))
    assert isinstance(started, Started)
    assert 0 <= (41 * FRAME - started.sample) - options.held_pre_roll_ms * MS < FRAME
    assert 0 <= (ended.sample - 140 * FRAME) - options.tail_ms * MS < FRAME
    assert np.array_equal(audio(events), np.arange(started.sample, ended.sample, dtype=np.float32))


def test_a_key_that_is_tapped_between_two_frames_is_still_an_utterance() -> None:
    gate = Gate(GateOptions(by_voice=False))
    gate.press()
    gate.release()
    assert kinds(run(gate, [0.0] * 40)) == ["Started", "Ended"]


def test_a_key_pressed_again_within_the_tail_goes_on_with_the_same_utterance() -> None:
    gate = Gate(GateOptions(by_voice=False))
    gate.press()
    run(gate, [0.0] * 10)
    gate.release()
    assert kinds(run(gate, [0.0] * 3, start=10)) == []
    gate.press()
    assert kinds(run(gate, [0.0] * 60, start=13)) == []
    gate.release()
    assert kinds(run(gate, [0.0] * 10, start=73)) == ["Ended"]


def test_an_utterance_that_a_voice_opened_goes_on_while_a_key_is_held() -> None:
    gate = Gate()
    run(gate, [0.9] * 10)
    gate.press()
    assert kinds(run(gate, [0.0] * 60, start=10)) == []
    gate.release()
    assert kinds(run(gate, [0.0] * 10, start=70)) == ["Ended"]


def test_no_voice_is_looked_for_while_the_key_decides() -> None:
    gate = Gate(GateOptions(by_voice=False))
    assert not gate.needs_voice
    gate.options = GateOptions()
    assert gate.needs_voice
    gate.press()
    assert not gate.needs_voice


def test_a_key_held_for_very_long_is_cut_without_a_gap() -> None:
    gate = Gate(GateOptions(by_voice=False, max_ms=2000))
    gate.press()
    events = run(gate, [0.0] * 150)
    assert kinds(events) == ["Started", "Ended", "Started", "Ended", "Started"]
    assert len(audio(events)) == 150 * FRAME


def hear(samples: NDArray[np.float32], rate: int = 16_000) -> list[tuple[float, float]]:
    """Utterances in seconds."""
    pipeline = Pipeline(rate, 1)
    events: list[GateEvent] = []
    for start in range(0, len(samples), rate // 50):
        events += pipeline.feed(samples[start : start + rate // 50, None])[1]
    events += pipeline.close()
    starts = [event.sample / 16_000 for event in events if isinstance(event, Started)]
    ends = [event.sample / 16_000 for event in events if isinstance(event, Ended)]
    return list(zip(starts, ends, strict=True))


@pytest.mark.parametrize("name", ["beckett", "two_cities"])
@pytest.mark.parametrize("noise_db", [-96, -50])
def test_every_word_of_real_speech_lies_within_an_utterance(name: str, noise_db: int) -> None:
    samples, _ = soundfile.read(DATA / f"{name}.wav", dtype="float32")
    noisy = samples + np.random.default_rng(1).normal(0, 10 ** (noise_db / 20), len(samples)).astype(np.float32)
    utterances = hear(noisy)
    for word, start, end in json.loads((DATA / "words.json").read_text())[name]:
        middle = (start + end) / 2
        assert any(first <= middle <= last for first, last in utterances), f"{word} at {start} s"


def test_faint_speech_is_heard_too() -> None:
    samples, _ = soundfile.read(DATA / "beckett.wav", dtype="float32")
    assert len(hear(samples * 0.03)) == 6


@pytest.mark.parametrize("noise", [white_noise, key_clicks, music])
def test_noise_is_hardly_ever_taken_for_speech(noise) -> None:  # type: ignore[no-untyped-def]
    assert sum(end - start for start, end in hear(noise(20.0))) < 2.0


def test_a_longer_wait_counts_from_the_moment_it_is_asked_for() -> None:
    gate = Gate(GateOptions(wait_ms=320))
    run(gate, [1.0] * 10 + [0.0] * 5)
    gate.options = GateOptions(wait_ms=640)
    assert run(gate, [0.0] * 10, 15)
    assert gate.is_open
    assert kinds(run(gate, [0.0] * 10, 25)) == ["Ended"]
