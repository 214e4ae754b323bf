"""The command grammar of a language, loaded from ``assets/commands/<language>.yaml``. Immutable once loaded.

Loading takes some tens of milliseconds and happens once, off the event loop if the caller minds.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from hassil import Intents
from hassil.errors import HassilError
from hassil.intents import IntentData, TextSlotList
from hassil.parse_expression import ParseExpressionError, parse_sentence
from hassil.parser import ParseError
from hassil.sample import sample_expression, sample_sentence

from sayso.app.commands.errors import GrammarError
from sayso.app.commands.expected import written
from sayso.app.commands.normalise import Rules, normalise
from sayso.app.commands.own import FAMILY, OwnCommand, OwnKind, explanation, title
from sayso.app.commands.sounds import classes, phones

ALWAYS_ON = frozenset({"listening.start"})
"""Without these nobody could get on by voice."""
_FEW = 8
"""A slot of more choices, such as the keys, is left open: their names are too many and too short to be guessed."""
_TELLING_HEAD = 6
"""Letters of a command before its first slot, from which it can be told."""
WILDCARDS_WITHOUT_NAMES = frozenset({"text", "query", "reminder"})
"""Slots that take any words at all; a sentence with one is never matched by likeness."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Command:
    """One command as people are told about it."""

    intent: str
    """``family.verb``; the family names the action that performs it."""
    help: str
    say: str
    """One way to say it."""
    title: str
    """What it does, with ``{slot}`` fields."""
    risk: int
    """0 run at once, 1 run and offer undo, 2 confirm, 3 confirm with the target's name."""
    undo: str
    """How it is taken back, in words for people."""
    own: OwnCommand | None = None
    """What it is, for one of the user's own."""

    @property
    def family(self) -> str:
        return self.intent.partition(".")[0]

    @property
    def verb(self) -> str:
        return self.intent.partition(".")[2]


@dataclass(frozen=True, slots=True)
class Shape:
    """A sentence with its ``{slots}`` left open: what the stage for recognition errors compares with.

    Where the only slot takes one of few words (“volume {direction}”), there is a sentence with each of them as well.
    """

    intent: str
    head: str
    """The words before the first slot."""
    text: str
    slots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Offers:
    """Sentences, or their words before the first slot, and the intent of each."""

    texts: tuple[str, ...]
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """All commands of one language."""

    language: str
    commands: Mapping[str, Command]
    intents: Intents
    rules: Rules
    shapes: tuple[Shape, ...] = field(repr=False, default=())
    whole: tuple[str, ...] = field(repr=False, default=())
    """Sentences without a slot."""
    heads: Mapping[int, tuple[str, ...]] = field(repr=False, default_factory=dict)
    """The words before the first slot, by their number."""
    whole_sounds: tuple[str, ...] = field(repr=False, default=())
    """The classes of sounds of each of ``whole``."""
    head_sounds: Mapping[int, tuple[str, ...]] = field(repr=False, default_factory=dict)
    """The classes of sounds of each of ``heads``."""
    offers: Mapping[int, Offers] = field(repr=False, default_factory=dict)
    """What is compared to find commands to offer, by its number of words; whole sentences under 0."""
    expected: tuple[str, ...] = field(repr=False, default=())
    """Whole sentences as a recogniser writes them, which it can be told to look for: most that have no free words."""
    known: tuple[Command, ...] = field(repr=False, default=())
    """All commands that come with the app, also those that are off."""
    off: Intents | None = field(repr=False, default=None)
    """Those that are off: what is said for one of them is not guessed to be another."""

    @classmethod
    def load(cls, language: str = "en", own: Sequence[OwnCommand] = (), off: Collection[str] = ()) -> Grammar:
        """The grammar that comes with the app; raises GrammarError where it is missing or broken.

        ``own`` are the user's own commands, and ``off`` the intents that are not to be understood.
        """
        return cls.read(resources.files("sayso.assets") / "commands" / f"{language}.yaml", own, off)

    def without(self, intent: str) -> Grammar:
        """The same but for one command; the words that start sentences stay."""
        if intent not in self.commands:
            return self
        shapes = tuple(shape for shape in self.shapes if shape.intent != intent)
        whole = _whole(shapes)
        return replace(
            self,
            commands={name: command for name, command in self.commands.items() if name != intent},
            intents=replace(self.intents, intents={k: v for k, v in self.intents.intents.items() if k != intent}),
            shapes=shapes,
            whole=whole,
            whole_sounds=_sounds(whole),
            offers=_offers(shapes),
        )

    @classmethod
    def read(cls, file: Traversable, own: Sequence[OwnCommand] = (), off: Collection[str] = ()) -> Grammar:
        """A grammar from any file in the format of ``assets/commands/en.yaml``."""
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise GrammarError(
                "grammar_missing", f"The commands in {file.name} cannot be read ({error}). Install Sayso again."
            ) from error
        try:
            return _build(yaml.load(text, Loader=_Loader), own, off)
        except (yaml.YAMLError, HassilError, ParseError, ParseExpressionError, AssertionError) as error:
            raise _broken(file, str(error).partition("\n")[0]) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _broken(file, f"{type(error).__name__}: {error}") from error


def _broken(file: Traversable, why: str) -> GrammarError:
    return GrammarError(
        "grammar_broken", f"The commands in {file.name} are not understood: {why}. Correct the file or install again."
    )


def _build(content: dict[str, Any], own: Sequence[OwnCommand], off: Collection[str]) -> Grammar:
    known = {intent: _command(intent, entry) for intent, entry in content["intents"].items()}
    spellings = {str(said): str(meant) for said, meant in content.get("spellings", {}).items()}
    rules = Rules.read(content.get("fillers", {}), spellings, content.get("numbers", {}))
    owned = {f"{FAMILY}.{number}": each for number, each in enumerate(own, 1)}
    entries = {
        intent: entry for intent, each in owned.items() if (entry := _own_entry(each, rules, content["language"]))
    }
    commands = {intent: replace(_command(intent, entry), own=owned[intent]) for intent, entry in entries.items()}
    unwanted = {k: v for k, v in content["intents"].items() if k in off and k not in ALWAYS_ON}
    # The user's own come first: they are the likeliest to be said.
    content["intents"] = entries | {k: v for k, v in content["intents"].items() if k not in off or k in ALWAYS_ON}
    commands |= {intent: command for intent, command in known.items() if intent in content["intents"]}
    intents = Intents.from_dict(content)
    shapes = tuple(_shapes(intents))
    whole, heads = _whole(shapes), _by_length(shapes)
    return Grammar(
        intents.language,
        commands,
        intents,
        rules,
        shapes,
        whole,
        heads,
        whole_sounds=_sounds(whole),
        head_sounds={length: _sounds(texts) for length, texts in heads.items()},
        offers=_offers(shapes),
        expected=_expected(intents, whole, content.get("expected", {})),
        known=tuple(known.values()),
        off=Intents.from_dict(content | {"intents": unwanted}) if unwanted else None,
    )


def _expected(intents: Intents, whole: Sequence[str], entry: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """All sentences without a slot, and those of ``entry`` with their slots filled in."""
    templates = (parse_sentence(text) for text in entry.get("sentences", ()))
    filled = (sample_sentence(each, intents.slot_lists, intents.expansion_rules) for each in templates)
    return written((*whole, *itertools.chain.from_iterable(filled)), frozenset(entry.get("questions", ())))


def _whole(shapes: Iterable[Shape]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(shape.text for shape in shapes if not shape.slots))


def _offers(shapes: Iterable[Shape]) -> dict[int, Offers]:
    found: dict[int, dict[tuple[str, str], None]] = {}
    for shape in shapes:
        # “The {step} workspace” has nothing to be told by at its beginning: every sentence could be meant.
        if not shape.slots or len(shape.head) >= _TELLING_HEAD:
            length = len(shape.head.split()) if shape.slots else 0
            found.setdefault(length, {})[shape.head, shape.intent] = None
    return {length: Offers(*zip(*pairs, strict=True)) for length, pairs in found.items()}


def _sounds(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(classes(phones(text)) for text in texts)


def _own_entry(own: OwnCommand, rules: Rules, language: str) -> dict[str, Any] | None:
    """A command of the user's own as the file would have it; None for a phrase without a word."""
    said = normalise(own.phrase, rules, language).text
    if not said:
        return None
    return {
        "help": explanation(own),
        "say": said,
        "title": title(own).replace("{", "{{").replace("}", "}}"),
        # A program that the user chose for this phrase needs no question.
        "risk": 1 if own.kind is OwnKind.PROGRAM else 0,
        "undo": "takes the typed text back" if own.kind is OwnKind.TEXT else "none",
        "data": [{"sentences": [said]}],
    }


def _by_length(shapes: Iterable[Shape]) -> dict[int, tuple[str, ...]]:
    heads: dict[int, dict[str, None]] = {}
    for shape in shapes:
        if shape.slots and shape.head:
            heads.setdefault(len(shape.head.split()), {})[shape.head] = None
    return {length: tuple(found) for length, found in heads.items()}


def _command(intent: str, entry: dict[str, Any]) -> Command:
    family, _, verb = intent.partition(".")
    if not family or not verb:
        raise ValueError(f"“{intent}” is not of the form family.verb")
    missing = [key for key in ("help", "say", "title", "risk", "undo") if key not in entry]
    if missing:
        raise ValueError(f"“{intent}” lacks {', '.join(missing)}")
    risk = entry["risk"]
    if risk not in (0, 1, 2, 3):
        raise ValueError(f"the risk of “{intent}” is {risk}, not 0 to 3")
    return Command(intent, entry["help"], entry["say"], entry["title"], risk, entry["undo"])


def _shapes(intents: Intents) -> list[Shape]:
    """Every way to say every command up to its slots, found by leaving the lists unexpanded."""
    choices = {
        name: _texts(values)
        for name, values in intents.slot_lists.items()
        if isinstance(values, TextSlotList) and len(values.values) <= _FEW
    }
    seen: dict[tuple[str, str, bool], Shape] = {}
    for name, intent in intents.intents.items():
        for text in itertools.chain.from_iterable(_open_sentences(intents, data) for data in intent.data):
            words = text.split()
            slots = tuple(word[1:-1] for word in words if word.startswith("{"))
            if len(slots) == 1 and slots[0] in choices:
                for said in choices[slots[0]]:
                    whole = text.replace(f"{{{slots[0]}}}", said)
                    seen[name, whole, False] = Shape(name, whole, whole, ())
            head = " ".join(itertools.takewhile(lambda word: not word.startswith("{"), words))
            key = (name, head if slots else text, bool(slots))
            if key not in seen or len(slots) < len(seen[key].slots):
                seen[key] = Shape(name, head, text, slots)
    return list(seen.values())


def _texts(choices: TextSlotList) -> tuple[str, ...]:
    """Every way to say every value of a list."""
    ways = (way for value in choices.values for way in sample_expression(value.text_in))
    return tuple(dict.fromkeys(" ".join(way.split()) for way in ways))


def _open_sentences(intents: Intents, data: IntentData) -> list[str]:
    return [
        " ".join(text.split())
        for sentence in data.sentences
        for text in sample_sentence(sentence, intents.slot_lists, intents.expansion_rules, expand_lists=False)
    ]
