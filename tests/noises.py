"""Sounds in which nothing is said: silence, white noise, keys, music. The same seed always gives the same samples.

All samples are mono float32 at 16 kHz in [-1, 1]. Runs in the calling thread.
"""

from __future__ import annotations

import numpy as np
from speech import RATE, Samples

_CHORDS = ((57, 60, 64), (53, 57, 60), (48, 52, 55), (55, 59, 62))  # A minor, F, C, G as MIDI notes.


def silence(seconds: float) -> Samples:
    """Digital silence."""
    return np.zeros(round(seconds * RATE), np.float32)


def white_noise(seconds: float, level_db: float = -40.0, seed: int = 0) -> Samples:
    """Gaussian white noise of `level_db` dBFS (root mean square)."""
    noise = np.random.default_rng(seed).standard_normal(round(seconds * RATE), np.float32)
    return np.clip(noise * np.float32(10 ** (level_db / 20)), -1, 1)


def key_clicks(seconds: float, seed: int = 0, keys_per_second: float = 6.0) -> Samples:
    """A keyboard typed on quickly, over a quiet room: each key a thump and a click, down and up."""
    random = np.random.default_rng(seed)
    sound = white_noise(seconds, -66.0, seed + 1)
    at = np.cumsum(random.gamma(2.0, 0.5 / keys_per_second, int(seconds * keys_per_second * 2) + 1))
    for start in at[at < seconds]:
        _add(sound, start, _click(random, 0.25))
        _add(sound, start + random.uniform(0.06, 0.12), _click(random, 0.1))
    return np.clip(sound, -1, 1)


def music(seconds: float, seed: int = 0) -> Samples:
    """Chords of plucked strings with a bass and drums at 110 beats a minute."""
    random = np.random.default_rng(seed)
    sound = silence(seconds)
    beat = 60 / 110
    for index in range(int(seconds / beat) + 1):
        chord = _CHORDS[index // 4 % len(_CHORDS)]
        for note in chord if index % 2 == 0 else (random.choice(chord) + 12,):
            _add(sound, index * beat, _string(note, 1.6 * beat, 0.09))
        _add(sound, index * beat, _string(chord[0] - 24, beat, 0.12))
        _add(sound, index * beat, _drum(random) if index % 2 == 0 else _snare(random))
        _add(sound, (index + 0.5) * beat, _click(random, 0.08))
    return np.clip(sound, -1, 1)


def _add(sound: Samples, start_s: float, part: Samples) -> None:
    at = round(start_s * RATE)
    room = max(0, len(sound) - at)
    sound[at : at + len(part)] += part[:room]


def _decay(seconds: float, time_constant: float) -> Samples:
    return np.exp(-np.arange(round(seconds * RATE), dtype=np.float32) / np.float32(time_constant * RATE))


def _click(random: np.random.Generator, amplitude: float) -> Samples:
    envelope = _decay(0.03, 0.004)
    hiss = random.standard_normal(len(envelope), np.float32)
    thump = np.sin(2 * np.pi * random.uniform(150, 260) * np.arange(len(envelope)) / RATE)
    return (amplitude * random.uniform(0.5, 1.0) * envelope * (0.4 * hiss + 0.6 * thump)).astype(np.float32)


def _string(note: int, seconds: float, amplitude: float) -> Samples:
    at = np.arange(round(seconds * RATE)) / RATE
    hertz = 440 * 2 ** ((note - 69) / 12)
    tone = sum(np.sin(2 * np.pi * hertz * partial * at) / partial**1.5 for partial in range(1, 6))
    attack = np.minimum(1, at / 0.005)
    return (amplitude * tone * attack * _decay(seconds, 0.4)).astype(np.float32)


def _drum(random: np.random.Generator) -> Samples:
    at = np.arange(round(0.25 * RATE)) / RATE
    sweep = np.sin(2 * np.pi * (50 * at + 8 * (1 - np.exp(-at / 0.03))))
    return (0.35 * random.uniform(0.8, 1.0) * sweep * _decay(0.25, 0.08)).astype(np.float32)


def _snare(random: np.random.Generator) -> Samples:
    envelope = _decay(0.2, 0.05)
    return (0.12 * random.standard_normal(len(envelope), np.float32) * envelope).astype(np.float32)
