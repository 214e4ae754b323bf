"""Any rate and number of channels becomes 16 kHz mono, and a dead channel costs nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso.app.audio.resample import SAMPLE_RATE, Downmix, Resampler


def tone(rate: int, seconds: float, hertz: float = 440.0, amplitude: float = 0.5) -> NDArray[np.float32]:
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)).astype(np.float32)


def convert(samples: NDArray[np.float32], rate: int, block: int = 441) -> NDArray[np.float32]:
    resampler = Resampler(rate, samples.shape[1])
    pieces = [resampler.feed(samples[start : start + block]) for start in range(0, len(samples), block)]
    return np.concatenate([*pieces, resampler.feed(samples[:0], last=True)])


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000])
def test_a_tone_keeps_its_pitch_length_and_level(rate: int) -> None:
    mono = convert(tone(rate, 1.0)[:, None], rate)
    assert len(mono) == pytest.approx(SAMPLE_RATE, abs=2)
    spectrum = np.abs(np.fft.rfft(mono))
    assert np.argmax(spectrum) * SAMPLE_RATE / len(mono) == pytest.approx(440, abs=1)
    assert np.sqrt(np.mean(mono[1000:-1000] ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.01)


def test_what_is_above_the_new_band_does_not_fold_down() -> None:
    mono = convert(tone(48000, 1.0, hertz=11_000)[:, None], 48000)
    assert np.sqrt(np.mean(mono[1000:-1000] ** 2)) < 0.001


@pytest.mark.parametrize("alive", [0, 3, 7])
def test_one_living_channel_of_eight_is_as_loud_as_it_is(alive: int) -> None:
    samples = np.zeros((48000, 8), np.float32)
    samples[:, alive] = tone(48000, 1.0)
    mono = convert(samples, 48000)
    assert np.sqrt(np.mean(mono[1000:-1000] ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.01)


def test_equal_channels_are_not_made_louder() -> None:
    mono = convert(np.repeat(tone(44100, 1.0)[:, None], 2, axis=1), 44100)
    assert np.abs(mono).max() == pytest.approx(0.5, rel=0.02)


def test_a_channel_that_dies_is_left_out_without_a_click() -> None:
    samples = np.repeat(tone(16000, 20.0)[:, None], 2, axis=1)
    samples[16000:, 1] = 0.0
    mono = convert(samples, 16000, block=320)
    assert np.sqrt(np.mean(mono[-16000:] ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.05)
    steps = np.abs(np.diff(mono[17_000:]))
    assert steps.max() < 1.1 * 0.5 * 2 * np.pi * 440 / 16000


def test_silence_stays_silence() -> None:
    assert not Downmix(48000, 4).feed(np.zeros((480, 4), np.float32)).any()
