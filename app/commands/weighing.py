"""Which of several texts for the same sound is the command that was said: pure, any thread.

A recogniser knows what else it may have heard, and the grammar knows what can be said. So where the text that it took
is no certain command, the likeliest other one that the grammar takes as it stands is; and where two commands are about
equally likely, the likelier one is asked about instead of done. Only for speech among commands: in dictation any text
may be meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from sayso.app.commands.grammar import WILDCARDS_WITHOUT_NAMES, Grammar
from sayso.app.commands.matching import Match, NoMatch, match
from sayso.app.commands.names import Names
from sayso.app.commands.other_text import OtherText

LIKELY = 3.0
"""How far behind a text may be to be taken at all: some twenty times less likely."""
INSTEAD_OF_WORDS = 1.0
"""The same where the text that was taken means something itself, which people also say for something else."""
LEAD = 1.0
"""How far other commands must be behind the one that is done without a question: some three times less likely."""
KEY_LEAD = 1.5
"""The same for other keys: letters differ by one sound."""
WHOLE = 0.65
"""Least length of a text, by that of the one that was taken: a recogniser also leaves out what it cannot make out."""

_Meaning = tuple[str, tuple[tuple[str, str], ...]]


def weigh(grammar: Grammar, heard: str, others: Sequence[OtherText], names: Names | None = None) -> Match | NoMatch:
    """The command that was said, by ``heard`` and by what the recogniser would have written instead of it.

    A match with a ``rival`` is doubtful. Without ``others`` this is ``match``.
    """
    found = match(grammar, heard, names)
    likely = [each for each in others if each.behind <= LIKELY and _is_whole(each.text, heard)]
    meanings = [(each.behind, match(grammar, each.text, names, guess=False)) for each in likely]
    readings = [(behind, each) for behind, each in meanings if _is_firm(each)]
    if _is_firm(found):
        return _doubted(found, 0.0, readings)
    candidates = [(behind, each) for behind, each in readings if _may_replace(each, behind, found)]
    if not candidates:
        return _questioned(found, [each for _, each in meanings])
    behind, likeliest = candidates[0]
    if isinstance(found, Match) and found.score < 100.0:
        # What was guessed of the text that was taken is no less likely than another text.
        readings = [(behind, found), *readings]
    return _doubted(replace(likeliest, by_sound=True), behind, readings)


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


def _may_replace(reading: Match, behind: float, found: Match | NoMatch) -> bool:
    """Whether another text may be taken instead of the one that was. Any words may be an address."""
    if "address" in reading.slots:
        return False
    if not isinstance(found, Match) or found.score < 100.0 or not found.named:
        return True
    return behind <= INSTEAD_OF_WORDS and not WILDCARDS_WITHOUT_NAMES & reading.slots.keys()


def _doubted(chosen: Match, behind: float, readings: Sequence[tuple[float, Match]]) -> Match:
    """The same, with the likeliest other command that is not far behind as its rival."""
    meant = _meaning(chosen)
    for other_behind, reading in readings:
        lead = KEY_LEAD if reading.intent == chosen.intent and "key" in reading.slots else LEAD
        if other_behind - behind < lead and _meaning(reading) != meant:
            return replace(chosen, rival=reading.sentence)
    return chosen


def _meaning(found: Match) -> _Meaning:
    """What is done, free words aside: those differ between any two texts."""
    values = ((name, "".join(value.casefold().split())) for name, value in found.slots.items())
    return found.intent, tuple(sorted(pair for pair in values if pair[0] not in WILDCARDS_WITHOUT_NAMES))
