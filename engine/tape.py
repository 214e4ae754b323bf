"""The audio of one turn that is still needed, addressed by sample position since the turn's start. Pure."""

from __future__ import annotations

import numpy as np

SMALLEST = 16_384


class Tape:
    """A growing buffer of float32 samples whose beginning can be dropped; memory follows what is kept."""

    def __init__(self) -> None:
        self._buffer = np.zeros(SMALLEST, np.float32)
        self._offset = 0
        self.start = 0
        self.end = 0

    @property
    def nbytes(self) -> int:
        """Bytes held, room to grow included."""
        return self._buffer.nbytes

    def append(self, samples: np.ndarray) -> None:
        """Add samples at ``end``."""
        kept = self.end - self.start
        if self._offset + kept + len(samples) > len(self._buffer):
            self._make_room(kept, kept + len(samples))
        at = self._offset + kept
        self._buffer[at : at + len(samples)] = samples
        self.end += len(samples)

    def read(self, start: int, end: int) -> np.ndarray:
        """A copy of the samples from ``start`` to ``end``; raises ``IndexError`` when some are not kept."""
        if not self.start <= start <= end <= self.end:
            raise IndexError(f"Samples {start} to {end} asked for, {self.start} to {self.end} are kept.")
        at = self._offset + start - self.start
        return self._buffer[at : at + end - start].copy()

    def drop_before(self, position: int) -> None:
        """Forget the samples before ``position``."""
        position = min(max(position, self.start), self.end)
        self._offset += position - self.start
        self.start = position

    def _make_room(self, kept: int, wanted: int) -> None:
        buffer = np.zeros(max(SMALLEST, wanted + wanted // 2), np.float32)
        buffer[:kept] = self._buffer[self._offset : self._offset + kept]
        self._buffer, self._offset = buffer, 0
