"""The two clocks that together tell whether the computer slept. Any thread."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """``awake_s`` stands still while the computer sleeps, ``real_s`` does not; both in seconds of any origin."""

    awake_s: float
    real_s: float

    @property
    def slept_s(self) -> float:
        return self.real_s - self.awake_s


def now() -> Moment:
    """The clocks as they are; where the system has only one, no sleep is seen."""
    awake_s = time.monotonic()
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return Moment(awake_s, awake_s if clock is None else time.clock_gettime(clock))
