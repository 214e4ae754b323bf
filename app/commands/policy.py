"""What becomes of an utterance: run it, type it, ask, or leave it. Pure, one table of rules.

In dictation everything doubtful is text (fail open); among commands everything doubtful does nothing (fail closed).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sayso.app.commands.matching import Match, NoMatch
from sayso.app.snapshot import Mode

CONFIRM_FROM = 2
"""Commands of this risk and above are confirmed first."""
GUESSES_CONFIRM_FROM = 1
"""The same for commands that were only guessed by their sound."""


@dataclass(frozen=True, slots=True)
class Run:
    match: Match


@dataclass(frozen=True, slots=True)
class Type:
    text: str


@dataclass(frozen=True, slots=True)
class Ignore:
    reason: str
    """Why nothing happens, in words for people; empty where nothing was said."""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirm:
    match: Match
    question: str


Decision = Run | Type | Ignore | Confirm

_YES = frozenset({"yes", "yes please", "yes do it", "confirm", "go ahead", "do it"})
_NO = frozenset({"no", "no thanks", "no thank you", "cancel", "don't", "do not", "never mind"})


class Answer(StrEnum):
    """What an utterance says to an open question."""

    YES = "yes"
    NO = "no"
    NONE = "none"
    """It is no answer, and the question is taken back."""


ANSWERS = _YES | _NO
"""Every way to answer; none of them can be a command."""


def read_answer(heard: str) -> Answer:
    """The answer that ``heard`` is as a whole, case and marks aside."""
    words = " ".join(heard.replace("\u2019", "'").replace(",", " ").strip(" .!?").lower().split())
    if words in _YES:
        return Answer.YES
    return Answer.NO if words in _NO else Answer.NONE


def decide(
    outcome: Match | NoMatch, mode: Mode, *, heard: str, asleep: bool = False, isolated: bool = False
) -> Decision:
    """What to do with ``heard``, which matched or did not.

    ``asleep`` after “stop listening”: only the command to start again counts. ``isolated`` where silence was left on
    both sides on purpose: one word alone may then be a command in dictation, too.
    """
    if asleep:
        if isinstance(outcome, Match) and outcome.intent == "listening.start" and not outcome.by_sound:
            return Run(outcome)
        return Ignore("Not listening; say “start listening”")
    if isinstance(outcome, NoMatch) or (mode is Mode.DICTATION and _is_text(outcome, isolated)):
        return _no_command(outcome, mode, heard)
    if outcome.rival:
        return Confirm(outcome, f"{outcome.title}? It sounded much like “{outcome.rival}”, too.")
    if outcome.command.risk >= (GUESSES_CONFIRM_FROM if outcome.by_sound else CONFIRM_FROM):
        return Confirm(outcome, f"{outcome.title}?")
    return Run(outcome)


def _no_command(outcome: Match | NoMatch, mode: Mode, heard: str) -> Decision:
    text = heard.strip()
    if not text:
        return Ignore("")
    if mode is Mode.DICTATION:
        return Type(text)
    suggestions = outcome.suggestions if isinstance(outcome, NoMatch) else ()
    if suggestions:
        return Ignore(f"Not a command. Did you mean “{suggestions[0]}”?", suggestions)
    return Ignore("Not a command")


def _is_text(match: Match, isolated: bool) -> bool:
    """Whether a match in dictation is better taken as text."""
    if match.ordinary or (match.words < 2 and not isolated):
        return True
    # A guess that cannot be taken back is worse than a few words too many.
    return match.score < 100.0 and match.command.risk > 0
