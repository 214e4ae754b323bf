"""Why an action was done, and when each stage on the way was reached: pure values.

All times are seconds since the epoch; 0 where a stage has not been reached or nobody saw it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from sayso.app.commands.matching import Match
from sayso.app.snapshot import DICTATION, Why

_OPEN_TURNS = 64
"""Turns that are waited for at once; what is older was cancelled or lost."""


@dataclass(frozen=True, slots=True)
class Moments:
    """When an utterance began, when its speech ended, and when its text was there."""

    began_at: float = 0.0
    ended_at: float = 0.0
    text_at: float = 0.0


UNTIMED = Moments()


class TurnMoments:
    """The moments of the turns that have no text yet. Belongs to the event loop."""

    def __init__(self) -> None:
        self._turns: dict[int, Moments] = {}

    def began(self, turn: int, at: float) -> None:
        self._turns[turn] = Moments(at)
        while len(self._turns) > _OPEN_TURNS:
            del self._turns[next(iter(self._turns))]

    def ended(self, turn: int | None, at: float) -> None:
        """Speech of this turn ended; None is no turn."""
        if turn in self._turns:
            self._turns[turn] = replace(self._turns[turn], ended_at=at)

    def text(self, turn: int) -> Moments:
        """The text of this turn is there, and the turn is over."""
        return replace(self._turns.pop(turn, Moments()), text_at=time.time())


def explain(match: Match, moments: Moments) -> Why:
    """Why this match is acted on, decided now."""
    return Why(match.intent, match.sentence, match.score, moments.ended_at, moments.text_at, time.time())


def explain_dictation(text: str, moments: Moments) -> Why:
    """Why this text is typed, decided now."""
    return Why(DICTATION, text.strip(), 0.0, moments.ended_at, moments.text_at, time.time())
