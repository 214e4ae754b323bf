"""Which of several named things was meant: pure, any thread. Used to match commands and to find what to act on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

LIKELY = 75.0
"""Least score, of 100, for a name that was probably meant."""
MARGIN = 8.0
"""Points by which the best must lead the second; otherwise the speaker is asked."""

_SHORTEST_PART = 3
_SOUND_SHARE = 0.88
"""What equal consonants are worth beside equal letters."""
_FEWEST_CONSONANTS = 4
_SOUNDS = (
    ("ph", "f"),
    ("x", "ks"),
    ("ck", "k"),
    ("ch", "k"),
    ("qu", "k"),
    ("c", "k"),
    ("z", "s"),
    ("v", "f"),
    ("d", "t"),
)

_WORDS = re.compile(r"[^\W_]+", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Named:
    """Something that can be called by any of its names; ``also`` holds weaker ones such as keywords.

    ``aliases`` are what people call all things of its kind, “terminal” or “browser”: as weak, but surely a name.
    """

    key: str
    title: str
    names: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    named: Named
    score: float


@dataclass(frozen=True, slots=True)
class Ambiguous:
    first: Named
    second: Named


@dataclass(frozen=True, slots=True)
class Unknown:
    nearest: Named | None
    """The most similar thing, to be offered; None when nothing is similar."""


class Names:
    """Everything that can be named in a command now: installed applications and open windows. Immutable."""

    def __init__(self, things: Iterable[Named] = ()) -> None:
        self._things = tuple(things)
        self._known: frozenset[str] | None = None

    def __len__(self) -> int:
        return len(self._things)

    def knows(self, spoken: str) -> bool:
        """True where ``spoken`` is an alias, a name or whole words of one, give or take spaces; no keyword counts."""
        if self._known is None:
            parts = (part for thing in self._things for name in thing.names for part in _parts(name))
            self._known = frozenset([*parts, *(_squash(alias) for thing in self._things for alias in thing.aliases)])
        return _squash(spoken) in self._known


def _parts(name: str) -> Iterator[str]:
    """All runs of words of a name that are long enough to mean it, without spaces; the whole name in any case."""
    words = _WORDS.findall(name.casefold())
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            part = "".join(words[start:end])
            if len(part) >= _SHORTEST_PART or end - start == len(words):
                yield part


def resolve(spoken: str, things: Sequence[Named]) -> Found | Ambiguous | Unknown:
    """The thing that was meant, or the two it may be, or none."""
    ranked = sorted(((score(spoken, thing), thing) for thing in things), key=lambda pair: -pair[0])
    if not ranked or ranked[0][0] < LIKELY:
        return Unknown(ranked[0][1] if ranked and ranked[0][0] >= 55.0 else None)
    best_score, best = ranked[0]
    # A full name beats a part of another one, and of two with one title the first will do: they cannot be told apart.
    rival = next((pair for pair in ranked[1:] if pair[1].title != best.title), None)
    if rival is None or best_score == 100.0 > rival[0] or best_score - rival[0] >= MARGIN:
        return Found(best, best_score)
    return Ambiguous(best, rival[1])


def score(spoken: str, thing: Named) -> float:
    """How well ``spoken`` names the thing, 0 to 100.

    100 for a name but for spaces and case, 94 for whole words of a name (“chrome” of “Google Chrome”), 91 for an alias
    or a keyword, otherwise the likeness of the letters.
    """
    said = _squash(spoken)
    if not said:
        return 0.0
    best = 0.0
    for name in thing.names:
        squashed = _squash(name)
        if squashed == said:
            return 100.0
        if _is_part(spoken, name):
            best = max(best, 94.0)
        if len(said) >= 4:
            best = max(best, 0.96 * fuzz.ratio(said, squashed))
        best = max(best, _SOUND_SHARE * _sound_alike(said, squashed))
    if any(_squash(name) == said for name in (*thing.also, *thing.aliases)):
        best = max(best, 91.0)
    return best


def _sound_alike(said: str, name: str) -> float:
    """Likeness of the consonants as they sound, 0 to 100: recognisers write “fire facts” for Firefox."""
    first, second = _consonants(said), _consonants(name)
    if min(len(first), len(second)) < _FEWEST_CONSONANTS or first[0] != second[0]:
        return 0.0
    return fuzz.ratio(first, second)


@lru_cache(maxsize=4096)
def _consonants(word: str) -> str:
    for written, sounds in _SOUNDS:
        word = word.replace(written, sounds)
    return re.sub(r"(.)\1+", r"\1", re.sub("[aeiouh]", "", word))


@lru_cache(maxsize=4096)
def _squash(name: str) -> str:
    return "".join(_WORDS.findall(name.casefold()))


def _is_part(spoken: str, name: str) -> bool:
    said = _WORDS.findall(spoken.casefold())
    parts = _WORDS.findall(name.casefold())
    length = len(said)
    if length >= len(parts) or len("".join(said)) < _SHORTEST_PART:
        return False
    return any(parts[at : at + length] == said for at in range(len(parts) - length + 1))
