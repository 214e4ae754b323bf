"""What was heard, made ready for matching: pure, any thread.

Lower case, no punctuation, no politeness, numbers as digits, known recogniser spellings rewritten. Every normalised
word remembers which characters of the heard text it stands for, so that text to be typed is taken from what was heard
and never from the normalised words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from text_to_num import find_numbers

_APOSTROPHE = "\u2019"
_WORD = re.compile(
    rf"[^\W_]+(?:['{_APOSTROPHE}][^\W_]+)*(?:\.[^\W_]+)*|%"
    r"|(?<=[\s\d])[+*\u00d7\u00f7](?=[\s\d])|(?<=\s)[-\u2212](?=\s)",
    re.UNICODE,
)
_SIGNS = {
    "%": "percent",
    "+": "plus",
    "-": "minus",
    "\u2212": "minus",
    "*": "times",
    "\u00d7": "times",
    "\u00f7": "over",
}
_LIKE_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LETTER_NOT_NUMBER = frozenset({"o", "oh"})
"""Read as zero by text2num; as a word of its own it is a letter."""


_Phrases = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Word:
    """One normalised word and the characters ``[start, end)`` of the heard text it stands for."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """A heard text with its normalised words."""

    heard: str
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def heard_span(self, start: int, end: int) -> tuple[int, int]:
        """Characters of the heard text under characters ``[start, end)`` of ``text``, with what lies around them.

        The span reaches from the end of the word before to the start of the word after, so that dropped politeness
        and punctuation inside it are kept: for text that is typed as it was said.
        """
        before, after, at = 0, len(self.heard), 0
        for word in self.words:
            word_end = at + len(word.text)
            if word_end <= start:
                before = word.end
            elif at >= end:
                after = word.start
                break
            at = word_end + 1
        return before, after


@dataclass(frozen=True, slots=True)
class Rules:
    """What a language drops and rewrites, as tuples of words."""

    start: _Phrases = ()
    end: _Phrases = ()
    anywhere: frozenset[str] = frozenset()
    spellings: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Words that sound like numbers, and their digits; nothing is rewritten by them here."""

    @classmethod
    def read(
        cls,
        fillers: Mapping[str, Iterable[str]],
        spellings: Mapping[str, str],
        numbers: Mapping[str, int] | None = None,
    ) -> Rules:
        """Rules from the grammar file's ``fillers``, ``spellings`` and ``numbers``; the longest entry wins."""
        return cls(
            start=_longest_first(fillers.get("start", ())),
            end=_longest_first(fillers.get("end", ())),
            anywhere=frozenset(fillers.get("anywhere", ())),
            spellings=tuple(
                sorted(
                    ((tuple(said.split()), tuple(meant.split())) for said, meant in spellings.items()),
                    key=lambda pair: -len(pair[0]),
                )
            ),
            numbers={word: str(number) for word, number in (numbers or {}).items()},
        )


def normalise(heard: str, rules: Rules, language: str = "en", *, keep_end: bool = False) -> Utterance:
    """The utterance's words as the grammar spells them; empty for text without a word.

    ``keep_end`` leaves politeness at the end, which may be all that is to be typed: “type thank you”.
    """
    words = [Word(_plain(found.group()), found.start(), found.end()) for found in _WORD.finditer(heard)]
    words = [word for word in words if word.text not in rules.anywhere]
    # Before politeness goes: “and full screen” is how “end full screen” is heard.
    words = _respell(words, rules)
    words = _strip(words, rules.start, () if keep_end else rules.end)
    return Utterance(heard, tuple(_digits(words, language)))


def _plain(word: str) -> str:
    return _SIGNS.get(word) or word.lower().replace(_APOSTROPHE, "'")


def _longest_first(phrases: Iterable[str]) -> _Phrases:
    return tuple(sorted((tuple(phrase.split()) for phrase in phrases), key=len, reverse=True))


def _strip(words: list[Word], start: _Phrases, end: _Phrases) -> list[Word]:
    """Without politeness at both ends; an utterance of nothing else stays as it is."""
    kept = words
    while phrase := next((p for p in start if _texts(kept[: len(p)]) == p), None):
        kept = kept[len(phrase) :]
    while phrase := next((p for p in end if _texts(kept[-len(p) :]) == p), None):
        kept = kept[: -len(phrase)]
    return kept or words


def _respell(words: list[Word], rules: Rules) -> list[Word]:
    result: list[Word] = []
    at = 0
    while at < len(words):
        for said, meant in rules.spellings:
            if _texts(words[at : at + len(said)]) == said:
                start, end = words[at].start, words[at + len(said) - 1].end
                # All words of the replacement stand for the whole of what was said.
                result += [Word(text, start, end) for text in meant]
                at += len(said)
                break
        else:
            result.append(words[at])
            at += 1
    return result


def _texts(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


class _NumberToken:
    """A word as text2num wants it."""

    def __init__(self, word: Word) -> None:
        self._word = word

    def text(self) -> str:
        return self._word.text

    def nt_separated(self, previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


def _digits(words: list[Word], language: str) -> list[Word]:
    """Number words as digits: “twenty five” becomes one word “25”; ordinals stay words."""
    found = find_numbers([_NumberToken(word) for word in words], language, threshold=0)
    result: list[Word] = []
    at = 0
    for number in found:
        letter = number.end - number.start == 1 and words[number.start].text in _LETTER_NOT_NUMBER
        if letter or not _LIKE_NUMBER.fullmatch(number.text):
            continue
        result += words[at : number.start]
        result.append(Word(number.text, words[number.start].start, words[number.end - 1].end))
        at = number.end
    return result + words[at:]
