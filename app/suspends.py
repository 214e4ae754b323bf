"""What a suspend of the computer asks for: a pure decision over two clocks and what the system announces.

A microphone that was open before is often dead afterwards without saying so, and a connection too. So it is closed when
a suspend is announced, which also ends what is being said, and opened anew after every suspend, announced or not.
"""

from __future__ import annotations

from enum import StrEnum

from sayso.app.clocks import Moment

_SLEPT_S = 1.0
"""More than two clocks of the same computer drift apart while it is awake."""
_CALLED_OFF_S = 30.0
"""Awake for so long after the announcement, it was called off without a word."""


class Step(StrEnum):
    CLOSE = "close"
    """Close the microphone: the computer is about to sleep."""
    OPEN = "open"
    """Open it anew, and doubt every connection: the computer is awake."""


class Suspends:
    """Each method gives the step to take, or None."""

    def __init__(self, now: Moment) -> None:
        self._slept_s = now.slept_s
        self._announced: Moment | None = None

    def announced(self, now: Moment) -> Step | None:
        """The system is about to suspend."""
        repeated, self._announced = self._announced is not None, now
        return None if repeated else Step.CLOSE

    def over(self, now: Moment) -> Step | None:
        """The system says that the suspend is over, or called off."""
        return self._open(now) if self._announced is not None else self.tick(now)

    def tick(self, now: Moment) -> Step | None:
        """Time passes; called every few seconds."""
        slept = now.slept_s - self._slept_s > _SLEPT_S
        forgotten = self._announced is not None and now.awake_s - self._announced.awake_s > _CALLED_OFF_S
        if slept or forgotten:
            return self._open(now)
        # Both clocks are corrected little by little; only a leap counts.
        self._slept_s = now.slept_s
        return None

    def _open(self, now: Moment) -> Step:
        self._slept_s, self._announced = now.slept_s, None
        return Step.OPEN
