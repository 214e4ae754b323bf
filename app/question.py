"""An action that waits for a yes, and what the speaker had in front when it was asked for: values."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from sayso.app.actions.desktop import Window
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Names
from sayso.app.commands.policy import Answer, read_answer

ANSWER_WITHIN_S = 60.0
"""A “yes” said later than this may be meant for somebody else; a click or a key still counts."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the speaker had in front when the utterance began."""

    target: Window | None = None
    names: Names | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """An action that waits for a yes; ``item`` is its place in the feed."""

    item: int
    command: Match
    around: Surroundings
    asked_at: float = field(default_factory=time.monotonic)
    """Seconds of the monotonic clock."""

    def answer(self, heard: str) -> Answer:
        """What an utterance answers; a late yes is none."""
        answer = read_answer(heard)
        late = time.monotonic() - self.asked_at > ANSWER_WITHIN_S
        return Answer.NONE if answer is Answer.YES and late else answer
