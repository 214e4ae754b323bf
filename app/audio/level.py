"""How loud the microphone is, whether it clips, and whether it gives nothing but zeros. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FLOOR_DB = -96.0
"""What digital silence reads; also the lowest level reported."""

LOWEST_SHOWN_DB = -60.0
"""Where the meters' scales begin."""

_WINDOW_S = 0.05
_STEP_DB = 0.5
"""A smaller change of the level cannot be seen on a meter."""
_CLIPPING = 0.999
_NO_SIGNAL_S = 1.0


@dataclass(frozen=True, slots=True)
class Level:
    """The level of the last 50 ms in dBFS (root mean square), at most 20 times a second."""

    db: float
    clipping: bool


def looks_different(db: float, shown_db: float) -> bool:
    """Whether a meter that shows one level must be painted anew for another; a quiet room needs none for minutes."""
    return abs(max(db, LOWEST_SHOWN_DB) - max(shown_db, LOWEST_SHOWN_DB)) >= _STEP_DB


class Meter:
    """Measures blocks of one device at its own rate, before anything is mixed."""

    def __init__(self, rate: int) -> None:
        self._window = int(rate * _WINDOW_S)
        self._silence_needed = int(rate * _NO_SIGNAL_S)
        self._zeros = 0
        self._count = 0
        self._energy = 0.0
        self._peak = 0.0

    @property
    def no_signal(self) -> bool:
        """True after a second of nothing but exact zeros: a muted, suspended or dead device, not a quiet room."""
        return self._zeros >= self._silence_needed

    def feed(self, block: NDArray[np.float32]) -> Level | None:
        """Take a block of shape (frames, channels); a level when 50 ms are full."""
        if not len(block):
            return None
        # The loudest channel is what the user hears himself in; dead channels must not lower the reading.
        energy = float(np.einsum("ij,ij->j", block, block).max())
        self._zeros = 0 if energy > 0.0 or block.any() else self._zeros + len(block)
        self._energy += energy
        # No sample of a quiet room can clip: all of them together have less energy than one that does.
        if energy >= _CLIPPING**2:
            self._peak = max(self._peak, float(np.abs(block).max()))
        self._count += len(block)
        if self._count < self._window:
            return None
        level = Level(decibels(self._energy / self._count), self._peak >= _CLIPPING)
        self._count, self._energy, self._peak = 0, 0.0, 0.0
        return level


def decibels(power: float) -> float:
    """Mean square of samples in dBFS, not below ``FLOOR_DB``."""
    return FLOOR_DB if power <= 0.0 else max(FLOOR_DB, 10.0 * float(np.log10(power)))
