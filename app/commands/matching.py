"""Whether an utterance, as a whole, is a command: pure, any thread, about a millisecond.

First the exact grammar; then, for small errors of recognition (“scratched that”), the grammar's sentences that are most
alike, provided that one of them leads the others by a margin. What is left over is no command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

ALIKE = 86.0
"""Least likeness, of 100, of a whole utterance with what was probably said."""
HEAD_ALIKE = 72.0
"""Least likeness of its first words, where the rest is a slot."""
WORD_ALIKE = 64.0
"""Least likeness of each word with the one it is taken for."""
MARGIN = 6.0
"""Points by which the likeliest command must lead the next other one."""
_SUGGESTED = 78.0
"""Least likeness of a command that is offered instead."""
_SUGGESTING_HEAD = 6
"""Letters of a command before its first wildcard, from which it can be told."""
_SUGGESTING_WORDS = 10
"""A longer sentence is ordinary speech."""
_TRIES = 10


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
    named: bool = True
    """False where it names an application or a window that is not there."""
    words: int = 0
    """How many words were said, politeness left out."""

    @property
    def intent(self) -> str:
        return self.command.intent

    @property
    def title(self) -> str:
        """What it does, in words for people."""
        return self.command.title.format_map(_Gaps(self.slots))

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


def match(grammar: Grammar, heard: str, names: Names | None = None) -> Match | NoMatch:
    """The command that ``heard`` is from first word to last.

    ``names`` are the applications and windows that exist: a command that names another thing still matches, marked as
    ordinary text.
    """
    known = names if names is not None else Names()
    utterance = normalise(heard, grammar.rules, grammar.language)
    if not utterance.words:
        return NoMatch("")
    whole = normalise(heard, grammar.rules, grammar.language, keep_end=True)
    exact = _exact(grammar, utterance, known) or _exact(grammar, whole, known)
    if exact is not None and exact.named:
        return exact
    # “Start listing” names nothing that exists, but is close to a command that does.
    found = _alike(grammar, utterance, known) or exact
    return found or NoMatch(utterance.text, _suggest(grammar, utterance.text))


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
    """The likeliest command if its words differ by a small recognition error only."""
    readings: dict[str, Match] = {}
    for repaired in _repairs(grammar, utterance):
        found = _exact(grammar, repaired, names)
        if found is None or WILDCARDS_WITHOUT_NAMES & found.slots.keys():
            continue
        if not found.named:
            continue
        likeness = fuzz.ratio(utterance.text, repaired.text)
        if likeness >= ALIKE and (found.intent not in readings or readings[found.intent].score < likeness):
            readings[found.intent] = replace(found, score=likeness, sentence=utterance.text)
    ranked = sorted(readings.values(), key=lambda match_: -match_.score)
    if not ranked or (len(ranked) > 1 and ranked[0].score - ranked[1].score < MARGIN):
        return None
    return ranked[0]


def _repairs(grammar: Grammar, utterance: Utterance) -> Iterator[Utterance]:
    """The utterance with its words, or its first words, replaced by the most similar ones that the grammar has."""
    options: list[tuple[float, int, str]] = []
    # The words said so far, by their number: what the first words of a sentence are compared with.
    starts = [" ".join(word.text for word in utterance.words[:n]) for n in range(len(utterance.words) + 1)]
    options += [(likeness, len(utterance.words), text) for text, likeness in _similar(starts[-1], grammar.whole)]
    for length, heads in grammar.heads.items():
        for n in range(max(1, length - 1), min(length + 2, len(utterance.words))):
            options += [(likeness, n, head) for head, likeness in _similar(starts[n], heads)]
    options = [option for option in options if _words_alike(utterance, *option[1:])]
    options.sort(key=lambda option: -option[0])
    for _, replaced, text in dict.fromkeys(options[:_TRIES]):
        first, last = utterance.words[0], utterance.words[replaced - 1]
        new = tuple(replace(first, text=word, end=last.end) for word in text.split())
        yield replace(utterance, words=new + utterance.words[replaced:])


def _similar(said: str, choices: Sequence[str]) -> list[tuple[str, float]]:
    """Those of many texts that are like what was said, with their likeness."""
    found = process.extract(said, choices, scorer=fuzz.ratio, score_cutoff=HEAD_ALIKE, limit=None)
    return [(text, likeness) for text, likeness, _ in found]


def _words_alike(utterance: Utterance, replaced: int, text: str) -> bool:
    """Whether no word is replaced by quite another: a long common rest must not hide it."""
    said, meant = [word.text for word in utterance.words[:replaced]], text.split()
    if len(said) != len(meant):
        return fuzz.ratio("".join(said), "".join(meant)) >= ALIKE
    return all(fuzz.ratio(*pair) >= WORD_ALIKE for pair in zip(said, meant, strict=True))


def _suggest(grammar: Grammar, said: str) -> tuple[str, ...]:
    """Up to three commands most like what was said."""
    best: dict[str, float] = {}
    words = said.split()
    if len(words) > _SUGGESTING_WORDS:
        return ()
    starts = [" ".join(words[:n]) for n in range(len(words) + 1)]
    for shape in grammar.shapes:
        if shape.slots and len(shape.head) < _SUGGESTING_HEAD:
            # “The {step} workspace” has nothing to be told by at its beginning: every sentence could be meant.
            continue
        length = shape.head.count(" ") + 1 if shape.slots else len(words)
        start = starts[min(length, len(words))]
        likeness = fuzz.ratio(start, shape.head if shape.slots else shape.text, score_cutoff=_SUGGESTED)
        best[shape.intent] = max(best.get(shape.intent, 0.0), likeness)
    ranked = sorted(best, key=lambda intent: -best[intent])
    return tuple(grammar.commands[intent].say for intent in ranked[:3] if best[intent] >= _SUGGESTED)
