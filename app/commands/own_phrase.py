"""Whether a phrase can be a command of the user's own: pure, some milliseconds, decided by the matcher itself."""

from __future__ import annotations

from rapidfuzz import fuzz, process

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.names import Names
from sayso.app.commands.normalise import normalise
from sayso.app.commands.policy import ANSWERS
from sayso.app.commands.repairs import ALIKE

_FEWEST_LETTERS = 4
_MOST_WORDS = 12


def phrase_problem(phrase: str, grammar: Grammar, names: Names | None = None, replacing: str = "") -> str:
    """Why nobody could say this phrase for a new command, in words for people; empty where it can be.

    ``replacing`` is the intent whose phrase this becomes, which is no rival of its own.
    """
    said = normalise(phrase, grammar.rules, grammar.language)
    if not said.words:
        return "Write the words that you will say."
    if " ".join(phrase.lower().split()) in ANSWERS or said.text in ANSWERS:
        return "This is an answer to Sayso's questions."
    if len(said.text.replace(" ", "")) < _FEWEST_LETTERS:
        return "This is too short to be heard for certain. Take a longer word, or two."
    if len(said.words) > _MOST_WORDS:
        return f"This is too long to be said without a mistake. Take {_MOST_WORDS} words at most."
    others = grammar.without(replacing)
    found = match(others, phrase, names)
    if isinstance(found, Match) and found.named and not found.by_sound:
        if found.score >= 100:
            return f"This does something already: {found.title}."
        return _too_like(found.command.say)
    nearest = process.extractOne(said.text, others.whole, scorer=fuzz.ratio, score_cutoff=ALIKE)
    return _too_like(nearest[0]) if nearest else ""


def _too_like(other: str) -> str:
    return f"This sounds too like “{other}”: one would be taken for the other."
