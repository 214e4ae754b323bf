"""What an utterance may have been before it was misheard: its words, or its first ones, as the grammar has them. Pure.

Two measures of likeness. By letters, each word has to be like the one it is taken for: these are small errors. By
sound (``sounds``) an utterance may fall into quite other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.normalise import Utterance
from sayso.app.commands.sounds import alike, classes, phones

ALIKE = 86.0
"""Least likeness, of 100, of a whole utterance with what was probably said."""
HEAD_ALIKE = 72.0
"""Least likeness of its first words, where the rest is a slot."""
WORD_ALIKE = 64.0
"""Least likeness of each word with the one it is taken for."""
SHORT_WORD_ALIKE = 75.0
"""The same for words of up to three letters, of which every one counts."""
SOUNDS_ALIKE = 77.0
"""Least likeness of the sounds of a whole utterance, or of its first words, with what was probably said."""
NUMBER_LIKENESS = 95.0
MARGIN = 6.0
"""Points by which what was probably said must lead everything else."""
_FEWEST_SOUNDS = 6
"""Shorter ones are like too many."""
_ROUGHLY = 70.0
"""Least likeness of the classes of sounds for sounds to be compared one by one."""
_COMPARED = 40
_SHORT = 3
_TRIES = 10


@dataclass(frozen=True, slots=True)
class Repair:
    """A candidate, and how like it is to what was heard, of 100."""

    utterance: Utterance
    likeness: float


def by_letters(grammar: Grammar, utterance: Utterance) -> Iterator[Repair]:
    """Candidates with small errors, the likeliest first."""
    starts = _starts(utterance)
    options = [(likeness, len(utterance.words), text) for text, likeness in _similar(starts[-1], grammar.whole)]
    for length, heads in grammar.heads.items():
        for n in _counts(length, utterance):
            options += [(likeness, n, head) for head, likeness in _similar(starts[n], heads)]
    options = [option for option in options if _words_alike(utterance, *option[1:])]
    for _, replaced, text in _best(options):
        repaired = _with(utterance, replaced, text)
        likeness = fuzz.ratio(utterance.text, repaired.text)
        if likeness >= ALIKE:
            yield Repair(repaired, likeness)


def by_number(grammar: Grammar, utterance: Utterance) -> Iterator[Repair]:
    """The utterance with one word that sounds like a number taken for it: “workspace for”."""
    for at, word in enumerate(utterance.words):
        if (number := grammar.rules.numbers.get(word.text)) is not None:
            words = (*utterance.words[:at], replace(word, text=number), *utterance.words[at + 1 :])
            yield Repair(replace(utterance, words=words), NUMBER_LIKENESS)


def by_sound(grammar: Grammar, utterance: Utterance) -> Iterator[Repair]:
    """Candidates that sound alike, the likeliest first."""
    starts = [phones(start) for start in _starts(utterance)]
    whole = len(utterance.words)
    options = _sounding(whole, starts[whole], grammar.whole, grammar.whole_sounds)
    for length, heads in grammar.heads.items():
        for n in _counts(length, utterance):
            options += _sounding(n, starts[n], heads, grammar.head_sounds[length])
    likely = sorted(options, key=lambda option: -option[0])[:_COMPARED]
    compared = [(alike(starts[n], phones(text)), n, text) for _, n, text in likely]
    if max(compared, default=(0.0,))[0] < SOUNDS_ALIKE:
        return
    for likeness, replaced, text in _best([option for option in compared if option[0] >= SOUNDS_ALIKE - MARGIN]):
        yield Repair(_with(utterance, replaced, text), likeness)


def _sounding(words: int, said: str, texts: Sequence[str], sounds: Sequence[str]) -> list[tuple[float, int, str]]:
    """Those of many texts, with their classes of sounds, that are roughly like so many words with these phones."""
    if len(said) < _FEWEST_SOUNDS:
        return []
    found = process.extract(classes(said), sounds, scorer=fuzz.ratio, score_cutoff=_ROUGHLY, limit=_COMPARED)
    return [(likeness, words, texts[at]) for _, likeness, at in found]


def _starts(utterance: Utterance) -> list[str]:
    """The words said so far, by their number: what the first words of a sentence are compared with."""
    return [" ".join(word.text for word in utterance.words[:n]) for n in range(len(utterance.words) + 1)]


def _counts(length: int, utterance: Utterance) -> range:
    """How many words so many may have been heard as, with at least one left."""
    return range(max(1, length - 1), min(length + 2, len(utterance.words)))


def _best(options: list[tuple[float, int, str]]) -> list[tuple[float, int, str]]:
    return list(dict.fromkeys(sorted(options, key=lambda option: -option[0])[:_TRIES]))


def _with(utterance: Utterance, replaced: int, text: str) -> Utterance:
    """The utterance with its first words replaced."""
    first, last = utterance.words[0], utterance.words[replaced - 1]
    new = tuple(replace(first, text=word, end=last.end) for word in text.split())
    return replace(utterance, words=new + utterance.words[replaced:])


def _similar(said: str, choices: Sequence[str]) -> list[tuple[str, float]]:
    """Those of many texts that are like what was said, with their likeness."""
    found = process.extract(said, choices, scorer=fuzz.ratio, score_cutoff=HEAD_ALIKE, limit=None)
    return [(text, likeness) for text, likeness, _ in found]


def _words_alike(utterance: Utterance, replaced: int, text: str) -> bool:
    """Whether no word is replaced by quite another: a long common rest must not hide it."""
    said, meant = [word.text for word in utterance.words[:replaced]], text.split()
    if len(said) != len(meant):
        return fuzz.ratio("".join(said), "".join(meant)) >= ALIKE
    return all(
        fuzz.ratio(heard, word) >= (WORD_ALIKE if len(word) > _SHORT else SHORT_WORD_ALIKE)
        for heard, word in zip(said, meant, strict=True)
    )
