"""A ring of samples between the PortAudio thread, which writes, and the event loop, which reads.

One producer and one consumer need no lock: each side moves only its own counter, and an int is replaced in one step.
When the ring is full the newest block is refused and counted, because the producer must never touch samples that the
consumer may be reading.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


class Ring:
    """A preallocated buffer of ``capacity`` frames of ``channels`` float32 samples."""

    def __init__(self, capacity: int, channels: int) -> None:
        self._frames: Samples = np.zeros((capacity, channels), np.float32)
        self._capacity = capacity
        self._written = 0
        self._read = 0
        self._overrun = 0

    @property
    def overrun(self) -> int:
        """Frames refused so far because the reader was too late."""
        return self._overrun

    def __len__(self) -> int:
        return self._written - self._read

    def write(self, block: Samples) -> bool:
        """Copy a block of shape (frames, channels) in; False when it did not fit and was counted as overrun."""
        count = len(block)
        if count > self._capacity - len(self):
            self._overrun += count
            return False
        start = self._written % self._capacity
        head = min(count, self._capacity - start)
        self._frames[start : start + head] = block[:head]
        self._frames[: count - head] = block[head:]
        self._written += count
        return True

    def read(self) -> Samples:
        """Everything written and not yet read, as a copy of shape (frames, channels)."""
        count = len(self)
        start = self._read % self._capacity
        head = min(count, self._capacity - start)
        block = np.concatenate((self._frames[start : start + head], self._frames[: count - head]))
        self._read += count
        return block
