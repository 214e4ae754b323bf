"""Which of several texts for the same sound is the command that was said: pure, any thread.

A recogniser knows what else it may have heard, and the grammar knows what can be said. So where the text that it took
is no certain command, the likeliest other one that the grammar takes as it stands is; and where two commands are about
equally likely, the likelier one is asked about instead of done. Only for speech among commands: in dictation any text
may be meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from sayso.app.commands.grammar import WILDCARDS_WITHOUT_NAMES, Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.names import Names
from sayso.app.commands.other_text import OtherText

LIKELY = 3.0
"""How far behind a text may be to be taken at all: some twenty times less likely."""
BY_LANGUAGE = 0.3
"""The share that is taken off of how much likelier a text is by language alone: commands are about equally likely."""
MOST_BY_LANGUAGE = 15.0
"""What is unlikelier than this by language alone is unlikely enough."""
PLAUSIBLE = 3.75
"""How far a text may lag, with that share taken off, to be taken."""
DOUBTFUL = 5.0
"""The same to be asked about; what lags more was preferred for its words and not for its sound."""
INSTEAD = 1.5
"""How far another command must lead a certain one by its sound to be asked about in its place."""
INSTEAD_OF_WORDS = 1.0
"""How far behind a text may be where the one that was taken means something that people also say for something else."""
LEAD = 1.0
"""How far other commands must be behind the one that is done without a question: some three times less likely."""
KEY_LEAD = 1.5
"""The same for other keys: letters differ by one sound."""
WHOLE = 0.7
"""Least length of a text, by that of the one that was taken: a recogniser also leaves out what it cannot make out."""

_Meaning = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class _Reading:
    """Another text as a command; ``lag`` is how far it is behind, by sound rather than by what is said most often."""

    match: Match
    behind: float
    lag: float


def weigh(grammar: Grammar, heard: str, others: Sequence[OtherText], names: Names | None = None) -> Match | NoMatch:
    """The command that was said, by ``heard`` and by what the recogniser would have written instead of it.

    A match with a ``rival`` is doubtful. Without ``others`` this is ``match``.
    """
    found = match(grammar, heard, names)
    near = [each for each in others if _is_near(each) and _is_whole(each.text, heard)]
    meanings = [(each, match(grammar, each.text, names, guess=False)) for each in near]
    readings = [_Reading(meaning, each.behind, _lag(each)) for each, meaning in meanings if _is_firm(meaning)]
    readings.sort(key=lambda reading: reading.lag)
    if _is_firm(found):
        return _certain(found, readings)
    candidates = [each for each in readings if _may_replace(each, found)]
    if not candidates:
        return _questioned(found, [meaning for each, meaning in meanings if each.behind <= LIKELY])
    chosen = replace(candidates[0].match, by_sound=True)
    if candidates[0].lag > PLAUSIBLE or (_means_something(found) and candidates[0].behind > INSTEAD_OF_WORDS):
        return replace(chosen, rival=found.sentence)
    if isinstance(found, Match) and found.score < 100.0:
        # What was guessed of the text that was taken is no less likely than another text.
        readings.insert(0, _Reading(found, candidates[0].behind, candidates[0].lag))
    return _doubted(chosen, candidates[0].lag, readings)


def _lag(other: OtherText) -> float:
    by_language = min(max(other.by_language or 0.0, -MOST_BY_LANGUAGE), MOST_BY_LANGUAGE)
    return other.behind - BY_LANGUAGE * by_language


def _is_near(other: OtherText) -> bool:
    """Whether it was perhaps said at all."""
    return other.behind <= LIKELY if other.by_language is None else _lag(other) <= DOUBTFUL


def _certain(found: Match, readings: Sequence[_Reading]) -> Match:
    """A command that was heard as it is said; one that sounds much more like it is asked about instead."""
    for first in readings[:1]:
        if first.lag < -INSTEAD and "address" not in first.match.slots and _meaning(first.match) != _meaning(found):
            return replace(first.match, by_sound=True, rival=found.sentence)
    return _doubted(found, 0.0, readings)


def _questioned(found: Match | NoMatch, meanings: Sequence[Match | NoMatch]) -> Match | NoMatch:
    """Free words behind one that people also say for something else are asked about where another likely text does not
    begin so: “write this up” is how “brightness up” is heard, and “right to the curb”."""
    if not isinstance(found, Match) or not found.named or not WILDCARDS_WITHOUT_NAMES & found.slots.keys():
        return found
    for other in meanings:
        if not isinstance(other, Match) or other.intent != found.intent:
            return replace(found, rival=other.sentence)
    return found


def _is_whole(text: str, heard: str) -> bool:
    """Whether it stands for all of the sound: “open the terminal” does not for “open the terminal building at six”."""
    return len(text) >= WHOLE * len(heard)


def _is_firm(found: Match | NoMatch) -> TypeGuard[Match]:
    """Whether it is a command by the exact grammar that leaves no ordinary words to chance."""
    if not isinstance(found, Match) or found.score < 100.0 or not found.named:
        return False
    return not (found.ordinary and WILDCARDS_WITHOUT_NAMES & found.slots.keys())


def _means_something(found: Match | NoMatch) -> bool:
    """Whether a text that is no certain command is one by its words."""
    return isinstance(found, Match) and found.score == 100.0 and found.named


def _may_replace(reading: _Reading, found: Match | NoMatch) -> bool:
    """Whether another text may be taken instead of the one that was. Any words may be an address."""
    if "address" in reading.match.slots:
        return False
    if not _means_something(found):
        return True
    plausible = reading.behind <= INSTEAD_OF_WORDS or reading.lag <= PLAUSIBLE
    return plausible and not WILDCARDS_WITHOUT_NAMES & reading.match.slots.keys()


def _doubted(chosen: Match, lag: float, readings: Sequence[_Reading]) -> Match:
    """The same, with the likeliest other command that does not lag far behind as its rival."""
    meant = _meaning(chosen)
    for other in readings:
        lead = KEY_LEAD if other.match.intent == chosen.intent and "key" in other.match.slots else LEAD
        if other.lag - lag < lead and _meaning(other.match) != meant:
            return replace(chosen, rival=other.match.sentence)
    return chosen


def _meaning(found: Match) -> _Meaning:
    """What is done, free words aside: those differ between any two texts."""
    values = ((name, "".join(value.casefold().split())) for name, value in found.slots.items())
    return found.intent, tuple(sorted(pair for pair in values if pair[0] not in WILDCARDS_WITHOUT_NAMES))
