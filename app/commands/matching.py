"""Whether an utterance, as a whole, is a command: pure, any thread, about a millisecond.

First the exact grammar; then, for small errors of recognition (“scratched that”), the grammar's sentences that are most
alike, provided that one of them leads the others by a margin. What is left over is no command.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from hassil import recognize_all
from hassil.recognize import RecognizeResult
from rapidfuzz import fuzz, process

from sayso.app.commands.address import read_address
from sayso.app.commands.calculation import is_calculation
from sayso.app.commands.duration import read_duration, spoken
from sayso.app.commands.grammar import WILDCARDS_WITHOUT_NAMES, Command, Grammar
from sayso.app.commands.names import Names
from sayso.app.commands.normalise import Utterance, normalise
from sayso.app.commands.repairs import MARGIN, SOUNDS_ALIKE, Repair, by_letters, by_number, by_sound

_SUGGESTED = 78.0
"""Least likeness of a command that is offered instead."""
_SUGGESTING_WORDS = 10
"""A longer sentence is ordinary speech."""
_UNGUESSED = frozenset({"address", "key"})
"""Slots with too many values that are close to each other, so that sound alone does not tell which was meant."""
_SOUND_WORDS = 7
"""A longer utterance is not guessed by its sound."""


@dataclass(frozen=True, slots=True)
class Match:
    """A command that was said."""

    command: Command
    slots: dict[str, str]
    """Values as text; a slot said several times has its values joined with “+”."""
    sentence: str
    """The normalised words that matched."""
    score: float = 100.0
    """100 for the exact grammar, less where a recognition error was assumed."""
    ordinary: bool = False
    """True where the same words are likely in ordinary text, or name something that is not there."""
    by_sound: bool = False
    """True where only the sound of the words is like the command's."""
    named: bool = True
    """False where it names an application or a window that is not there."""
    words: int = 0
    """How many words were said, politeness left out."""
    rival: str = ""
    """Other words that may have been said just as well and do something else; empty where there are none."""

    @property
    def intent(self) -> str:
        return self.command.intent

    @property
    def title(self) -> str:
        """What it does, in words for people."""
        held = self.slots.get("modifier")
        pressed = {"key": f"{held}+{self.slots.get('key', '')}"} if held else {}
        return self.command.title.format_map(_Gaps(self.slots | pressed))

    def number(self, slot: str, default: int) -> int:
        """The slot's whole number, or ``default`` where it was not said."""
        value = self.slots.get(slot, "")
        return int(value) if value.isdecimal() else default


@dataclass(frozen=True, slots=True)
class NoMatch:
    """No command; ``suggestions`` are ways to say those most alike, the likeliest first."""

    sentence: str
    suggestions: tuple[str, ...] = field(default=())


class _Gaps(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


def match(grammar: Grammar, heard: str, names: Names | None = None, *, guess: bool = True) -> Match | NoMatch:
    """The command that ``heard`` is from first word to last.

    ``names`` are the applications and windows that exist: a command that names another thing still matches, marked as
    ordinary text. Without ``guess`` only the exact grammar counts.
    """
    known = names if names is not None else Names()
    utterance = normalise(heard, grammar.rules, grammar.language)
    if not utterance.words:
        return NoMatch("")
    whole = normalise(heard, grammar.rules, grammar.language, keep_end=True)
    exact = _exact(grammar, utterance, known)
    if exact is None and whole.words != utterance.words:
        exact = _exact(grammar, whole, known)
    if exact is not None and exact.named:
        return exact
    if not guess or _is_off(grammar, utterance):
        return exact or NoMatch(utterance.text)
    # “Start listing” names nothing that exists, but is close to a command that does.
    found = _alike(grammar, utterance, known) or exact
    return found or NoMatch(utterance.text, _suggest(grammar, utterance.text))


def _is_off(grammar: Grammar, utterance: Utterance) -> bool:
    return grammar.off is not None and any(
        not any(entity.is_wildcard for entity in result.entities_list)
        for result in recognize_all(utterance.text, grammar.off)
    )


def _exact(grammar: Grammar, utterance: Utterance, names: Names) -> Match | None:
    """The reading of the grammar that leaves the least to wildcards and names things that exist."""
    best: tuple[tuple[bool, int, bool], Match] | None = None
    for result in recognize_all(utterance.text, grammar.intents):
        reading = _read(grammar, utterance, result, names)
        if reading is None:
            continue
        open_length = sum(len(entity.text) for entity in result.entities_list if entity.is_wildcard)
        rank = (not reading.named, open_length, reading.ordinary)
        if best is None or rank < best[0]:
            best = rank, reading
    return best[1] if best else None


def _read(grammar: Grammar, utterance: Utterance, result: RecognizeResult, names: Names) -> Match | None:
    """The match with its slots read; None where a slot cannot be read."""
    slots: dict[str, str] = {}
    named = True
    for entity in result.entities_list:
        value = _slot_value(entity, utterance)
        if value is None:
            return None
        if entity.name == "application":
            named = named and names.knows(value)
        slots[entity.name] = f"{slots[entity.name]}+{value}" if entity.name in slots else value
    metadata = result.intent_metadata or {}
    ordinary = bool(metadata.get("ordinary", False)) or not named
    command = grammar.commands[result.intent.name]
    return Match(command, slots, utterance.text, ordinary=ordinary, named=named, words=len(utterance.words))


def _slot_value(entity: Any, utterance: Utterance) -> str | None:
    if not entity.is_wildcard or entity.text_span is None:
        value = entity.value
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    before, after = utterance.heard_span(*entity.text_span)
    around = utterance.heard[before:after]
    if entity.name == "address":
        return read_address(around)
    if entity.name == "text":
        return typed_as_said(around) or None
    if entity.name in ("duration", "calculation"):
        return _measured(entity.name, " ".join(str(entity.value).split()))
    if entity.name in ("query", "reminder"):
        return around.strip(" \t\n.,:;!?") or None
    return str(entity.value).strip() or None


def _measured(name: str, words: str) -> str | None:
    """A length of time or a sum in normalised words; None for anything else."""
    if name == "calculation":
        return words if is_calculation(words) else None
    seconds = read_duration(words)
    return None if seconds is None else spoken(seconds)


def typed_as_said(text: str) -> str:
    """The words to type, without the punctuation that the recogniser puts around them.

    A full stop at the very end is the recogniser's where it is the only one; between sentences it was meant.
    """
    cleaned = text.strip().lstrip(",:;.").lstrip()
    inner = cleaned[:-1]
    if cleaned.endswith(".") and not any(mark in inner for mark in (". ", "? ", "! ")) and not inner.endswith("."):
        return inner
    return cleaned


def _alike(grammar: Grammar, utterance: Utterance, names: Names) -> Match | None:
    """The likeliest command if its words differ by a small recognition error only, or if it sounds much the same."""
    found = _likeliest(grammar, utterance, names, by_letters(grammar, utterance))
    if found is not None or len(utterance.words) > _SOUND_WORDS:
        return found
    number = _guessed(_likeliest(grammar, utterance, names, by_number(grammar, utterance)))
    return number or _guessed(_likeliest(grammar, utterance, names, by_sound(grammar, utterance)))


def _guessed(found: Match | None) -> Match | None:
    """The same as a guess, where it may be one: what people also say for something else is not guessed at."""
    if found is None or found.score < SOUNDS_ALIKE or found.ordinary or _UNGUESSED & found.slots.keys():
        return None
    return replace(found, ordinary=True, by_sound=True)


def _likeliest(grammar: Grammar, utterance: Utterance, names: Names, repairs: Iterable[Repair]) -> Match | None:
    """The best of what the repairs mean, if it leads everything else that they mean by a margin."""
    readings: dict[tuple[str, tuple[tuple[str, str], ...]], Match] = {}
    for repair in repairs:
        found = _exact(grammar, repair.utterance, names)
        if found is None or WILDCARDS_WITHOUT_NAMES & found.slots.keys() or not found.named:
            continue
        meaning = found.intent, tuple(sorted(found.slots.items()))
        if meaning not in readings or readings[meaning].score < repair.likeness:
            readings[meaning] = replace(found, score=repair.likeness, sentence=utterance.text)
    ranked = sorted(readings.values(), key=lambda match_: -match_.score)
    if not ranked or (len(ranked) > 1 and ranked[0].score - ranked[1].score < MARGIN):
        return None
    return ranked[0]


def _suggest(grammar: Grammar, said: str) -> tuple[str, ...]:
    """Up to three commands most like what was said."""
    best: dict[str, float] = {}
    words = said.split()
    if len(words) > _SUGGESTING_WORDS:
        return ()
    for length, offers in grammar.offers.items():
        start = " ".join(words[:length]) if length else said
        for _, likeness, at in process.extract(
            start, offers.texts, scorer=fuzz.ratio, score_cutoff=_SUGGESTED, limit=None
        ):
            intent = offers.intents[at]
            best[intent] = max(best.get(intent, 0.0), likeness)
    ranked = sorted(best, key=lambda intent: -best[intent])
    return tuple(grammar.commands[intent].say for intent in ranked[:3])
