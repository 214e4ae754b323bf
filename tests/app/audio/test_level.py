"""The level meter at device rate."""

from __future__ import annotations

import numpy as np
import pytest

from sayso.app.audio.level import FLOOR_DB, Level, Meter, looks_different


def levels(meter: Meter, samples: np.ndarray, block: int) -> list[Level]:
    blocks = (samples[start : start + block] for start in range(0, len(samples), block))
    return [level for part in blocks if (level := meter.feed(part.astype(np.float32))) is not None]


def sine(rate: int, seconds: float, amplitude: float, channels: int = 1) -> np.ndarray:
    mono = amplitude * np.sin(2 * np.pi * 440 * np.arange(int(rate * seconds)) / rate)
    return np.repeat(mono[:, None], channels, axis=1)


@pytest.mark.parametrize("amplitude", [0.5, 0.05, 0.005])
def test_a_tone_reads_its_power(amplitude: float) -> None:
    found = levels(Meter(48000), sine(48000, 1.0, amplitude), 480)
    assert all(level.db == pytest.approx(20 * np.log10(amplitude / np.sqrt(2)), abs=0.1) for level in found)


@pytest.mark.parametrize("block", [64, 480, 1024, 4800])
def test_at_most_twenty_levels_a_second_are_given(block: int) -> None:
    assert len(levels(Meter(48000), sine(48000, 2.0, 0.1), block)) <= 40


def test_the_loudest_channel_counts() -> None:
    samples = np.zeros((4800, 8))
    samples[:, 5] = sine(48000, 0.1, 0.5)[:, 0]
    assert levels(Meter(48000), samples, 480)[-1].db == pytest.approx(-9.03, abs=0.1)


def test_clipping_is_told_for_the_window_in_which_it_happens() -> None:
    samples = sine(48000, 0.3, 0.5)
    samples[5000] = 1.0
    assert [level.clipping for level in levels(Meter(48000), samples, 480)] == [False, False, True, False, False, False]


def test_a_second_of_exact_zeros_is_no_signal_and_any_sample_ends_it() -> None:
    meter = Meter(16000)
    levels(meter, np.zeros((15_900, 2)), 100)
    assert not meter.no_signal
    assert levels(meter, np.zeros((800, 2)), 100)[-1] == Level(FLOOR_DB, False)
    assert meter.no_signal
    meter.feed(np.full((1, 2), 1e-6, np.float32))
    assert not meter.no_signal


def test_a_quiet_room_is_a_signal() -> None:
    meter = Meter(16000)
    levels(meter, np.random.default_rng(0).normal(0, 1e-5, (32_000, 1)), 160)
    assert not meter.no_signal


def test_only_what_an_eye_sees_on_a_meter_looks_different() -> None:
    assert not looks_different(-50.3, -50.0)
    assert looks_different(-49.0, -50.0)
    assert not looks_different(FLOOR_DB, -61.0)
    assert looks_different(-55.0, FLOOR_DB)
