"""Which encoder positions stand for a window: all of the sound, and few of the silence that fills it up to 30 s.

Whisper was trained on 30 s windows: without the silence after the speech it does not know that the audio has ended and
starts over. But that silence is the same everywhere, up to its position: the convolutions see only their neighbours.
So one silent position in every group of neighbours stands for the whole group, with its own true position, and the
group's size is given back to it as weight in every attention (the logarithm of the size is added to its logits). The
network then attends as if all 1500 positions were there, at a fraction of the work.

Pure arithmetic: nothing here touches audio or tensors of the network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sayso.engine.modules.log_mel import SAMPLE_RATE
from sayso.engine.modules.whisper_shape import MAX_POSITIONS, POSITIONS_A_SECOND

SAMPLES_A_POSITION = SAMPLE_RATE // POSITIONS_A_SECOND
BUCKET_POSITIONS = POSITIONS_A_SECOND // 2
"""Windows are rounded up to 0.5 s, so that requests of about equal length share a batch."""
PADDING_POSITIONS = 25
"""Silence that is kept whole after the sound: the network hears the sound end there."""
_NEAR_POSITIONS, _NEAR_GROUP = 48, 3
_END_POSITIONS = 20


@dataclass(frozen=True)
class Window:
    """``dense`` positions from the start are kept one by one; ``kept`` silent ones after them stand for ``sizes``."""

    dense: int
    kept: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def length(self) -> int:
        return self.dense + len(self.kept)

    def positions(self) -> np.ndarray:
        """Index of every kept position among the full window's 1500."""
        return np.concatenate([np.arange(self.dense), np.asarray(self.kept, dtype=np.int64)])

    def log_sizes(self) -> np.ndarray:
        """What to add to the attention logits of every kept position (float32)."""
        return np.log(np.concatenate([np.ones(self.dense), np.asarray(self.sizes, dtype=np.float64)])).astype(
            np.float32
        )


def bucket(samples: int) -> int:
    """Number of positions kept one by one for so many samples; equal for all that may share a batch."""
    sound = math.ceil(samples / SAMPLES_A_POSITION) + PADDING_POSITIONS
    return min(MAX_POSITIONS, math.ceil(sound / BUCKET_POSITIONS) * BUCKET_POSITIONS)


def compressed(dense: int, group: int) -> Window:
    """A window with ``dense`` whole positions and one for every ``group`` of the silent rest.

    The silence right after the sound and the window's end are kept finer: measured against the full window, those are
    where the network's states depend on single positions. The last one is always kept for itself, since the
    convolutions see the edge there. ``group`` 1 gives the full window.
    """
    if dense >= MAX_POSITIONS - 1 or group <= 1:
        return full()
    kept, sizes, start = [], [], dense
    while start < MAX_POSITIONS - 1:
        size = min(_size_at(start, dense, group), MAX_POSITIONS - 1 - start)
        kept.append(start + size // 2)
        sizes.append(size)
        start += size
    return Window(dense, (*kept, MAX_POSITIONS - 1), (*sizes, 1))


def _size_at(position: int, dense: int, group: int) -> int:
    """How many positions one stands for, from this silent position on."""
    if position >= MAX_POSITIONS - _END_POSITIONS:
        return 1
    near = group if position >= dense + _NEAR_POSITIONS else min(group, _NEAR_GROUP)
    return min(near, MAX_POSITIONS - _END_POSITIONS - position)


def full() -> Window:
    """The whole 30 s window."""
    return Window(MAX_POSITIONS, (), ())
