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
NAMED_FROM = 3
"""From this risk on a “yes” alone, which may be meant for somebody else too, is not enough: it has to say for what."""
_COMPUTER = " the computer"


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

    @property
    def yes(self) -> str:
        """What is to be said to have it done: “yes”, or “yes, shut down” where much is lost by a mistake."""
        return f"yes, {self._name}" if self.command.command.risk >= NAMED_FROM else "yes"

    @property
    def _name(self) -> str:
        return self.command.title.lower().removesuffix(_COMPUTER)

    def answer(self, heard: str) -> Answer:
        """What an utterance answers; a late yes is none."""
        answer = read_answer(heard)
        if self.command.command.risk >= NAMED_FROM and answer is not Answer.NO:
            wanted = {_letters(f"yes {self._name}{the_computer}") for the_computer in ("", _COMPUTER)}
            answer = Answer.YES if _letters(heard) in wanted else Answer.NONE
        late = time.monotonic() - self.asked_at > ANSWER_WITHIN_S
        return Answer.NONE if answer is Answer.YES and late else answer


def _letters(said: str) -> str:
    """What was said without case, spaces and marks: recognisers write “shut down” and “shutdown”."""
    return "".join(letter for letter in said.lower() if letter.isalnum())
