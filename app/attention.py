"""Whether an utterance is meant for Sayso where a wake phrase is asked for. Pure but for the clock; event loop.

After the phrase, and after everything that was done since, the next utterance needs no phrase for some seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sayso.app.commands.phrase import after_phrase

WITHIN_S = 8.0
"""How long the next utterance may take to begin; longer than a breath, shorter than a talk with somebody else."""


@dataclass(frozen=True, slots=True)
class Address:
    """``text`` is what was said to Sayso; ``phrase`` is whether the phrase came before it."""

    text: str
    phrase: bool = False


class Attention:
    """``asked`` is whether the phrase is needed at all; without, it only wakes."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock`` gives seconds since the epoch."""
        self._clock = clock
        self._until = 0.0
        self.phrase = ""
        self.asked = False

    @property
    def present(self) -> bool:
        """Whether an utterance that begins now needs no phrase."""
        return self.needs_phrase and self._clock() < self._until

    @property
    def needs_phrase(self) -> bool:
        return self.asked and bool(self.phrase)

    def attend(self) -> None:
        """What was said to Sayso is done: another utterance may follow without the phrase."""
        self._until = self._clock() + WITHIN_S

    def forget(self) -> None:
        """From now on nothing is meant for Sayso without the phrase."""
        self._until = 0.0

    def address(self, heard: str, began_at: float, *, asleep: bool) -> Address | None:
        """What of ``heard`` is meant for Sayso, or None.

        ``began_at`` is when it was begun, in seconds since the epoch, or 0 for now.
        """
        rest = after_phrase(heard, self.phrase) if self.needs_phrase or asleep else None
        if rest is not None:
            return Address(rest, phrase=True)
        if self.needs_phrase and not asleep and (began_at or self._clock()) >= self._until:
            return None
        return Address(heard)
