"""Words of a decoded row with their times and probabilities.

The alignment gives each token a stretch of time that lasts until the next token begins, silence included; the loudness
of the audio then trims the silence off a word's beginning and end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sayso.engine.modules import whisper_alignment as alignment
from sayso.engine.modules.whisper_shape import POSITIONS_A_SECOND
from sayso.engine.modules.whisper_window import SAMPLES_A_POSITION

_QUIET_SHARE = 0.12
"""A word's sound is at least this loud beside its loudest 20 ms; what is fainter is room and breath."""
_SHORTEST = 3
_FIRST_SHARE = 0.1
"""The first run of sound with this much of the loudest run's energy is the word; a fainter one is a click before it."""
_PAUSE = 12
"""Positions of quiet that part one word from the next; the closure of a stop consonant is shorter."""


@dataclass(frozen=True)
class HeardWord:
    """One word; ``text`` has its leading space, times are seconds from the window's start (good to about 0.2 s)."""

    text: str
    start_s: float
    end_s: float
    probability: float
    tokens: tuple[int, ...]


def sound_positions(audio: np.ndarray) -> int:
    """Number of encoder positions that the audio reaches."""
    return max(1, -(-len(audio) // SAMPLES_A_POSITION))


def timed(
    words: Sequence[tuple[str, tuple[int, ...]]],
    logprobs: Sequence[float],
    attention: torch.Tensor,
    audio: np.ndarray,
) -> tuple[HeardWord, ...]:
    """Give every word its time. ``attention`` [heads, n + 1, positions] ends with the words' tokens and the end."""
    if not words:
        return ()
    count = sum(len(tokens) for _, tokens in words)
    begin = alignment.starts(alignment.relevance(attention, sound_positions(audio)))[-(count + 1) :]
    levels = _levels(audio)
    probabilities = np.exp(logprobs)
    heard, at = [], 0
    for text, tokens in words:
        until = at + len(tokens)
        start, end = _trimmed(int(begin[at]), int(begin[until]), levels)
        likely = float(probabilities[at:until].mean())
        heard.append(HeardWord(text, start / POSITIONS_A_SECOND, end / POSITIONS_A_SECOND, likely, tokens))
        at = until
    return tuple(heard)


def _levels(audio: np.ndarray) -> np.ndarray:
    """Root mean square of each position's 20 ms."""
    positions = sound_positions(audio)
    padded = np.zeros(positions * SAMPLES_A_POSITION, np.float32)
    padded[: len(audio)] = audio
    return np.sqrt(np.square(padded.reshape(positions, -1)).mean(1))


def _trimmed(start: int, end: int, levels: np.ndarray) -> tuple[int, int]:
    """The stretch without the quiet around the word, and without the next word's first sound after a pause."""
    inside = levels[start:end]
    if len(inside) <= _SHORTEST:
        return start, end
    sounding = np.flatnonzero(inside >= _QUIET_SHARE * inside.max())
    runs = np.split(sounding, np.flatnonzero(np.diff(sounding) > _PAUSE) + 1)
    energies = [float(np.square(inside[run]).sum()) for run in runs]
    word = next(run for run, energy in zip(runs, energies, strict=True) if energy >= _FIRST_SHARE * max(energies))
    return start + int(word[0]), start + int(word[-1]) + 1
