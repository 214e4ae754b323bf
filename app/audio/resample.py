"""From the device's own rate and channels to 16 kHz mono, as a stream. Runs on the event loop.

Asking the sound system for 16 kHz fails on many devices, so the conversion is ours (soxr).
"""

from __future__ import annotations

import numpy as np
import soxr
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Samples a second of everything behind this module: mono float32 in the range -1 to 1."""

_MEMORY_S = 5.0
"""A channel that was silent for some times this long no longer counts in the downmix."""

Samples = NDArray[np.float32]


class Downmix:
    """Mono as the mean of the channels, each weighted by its share of the energy of the last seconds.

    Equal channels give their mean, as usual; a dead channel weighs nothing, so that a device on which one of eight
    channels is alive is as loud as that channel.
    """

    def __init__(self, rate: int, channels: int) -> None:
        self._rate = rate
        self._energy = np.zeros(channels)
        self._weights = np.full(channels, 1.0 / channels)

    def feed(self, block: Samples) -> Samples:
        """Mix a block of shape (frames, channels) to shape (frames,)."""
        if block.shape[1] == 1 or not len(block):
            return block[:, 0]
        forget = float(np.exp(-len(block) / (self._rate * _MEMORY_S)))
        self._energy = self._energy * forget + np.einsum("ij,ij->j", block, block, dtype=np.float64)
        total = float(self._energy.sum())
        if total <= 0.0:
            return block @ self._weights.astype(np.float32)
        before, self._weights = self._weights, self._energy / total
        # The weights glide within the block: a step would be heard as a click.
        ramp = np.linspace(0.0, 1.0, len(block), dtype=np.float32)[:, None]
        weights = before.astype(np.float32) * (1.0 - ramp) + self._weights.astype(np.float32) * ramp
        mono: Samples = np.einsum("ij,ij->i", block, weights)
        return mono


class Resampler:
    """Blocks of one device in, mono float32 at ``SAMPLE_RATE`` out; the stream's own delay is a few milliseconds."""

    def __init__(self, rate: int, channels: int) -> None:
        self._downmix = Downmix(rate, channels)
        self._stream = None if rate == SAMPLE_RATE else soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32")

    def feed(self, block: Samples, last: bool = False) -> Samples:
        """Convert a block of shape (frames, channels); ``last`` also brings out what the filter still holds."""
        mono = np.ascontiguousarray(self._downmix.feed(block), np.float32)
        if self._stream is None:
            return mono
        converted: Samples = self._stream.resample_chunk(mono, last=last)
        return converted
