"""The wake phrase at the beginning of an utterance, as recognisers spell it. Pure.

Names are what recognisers know least: “hey sayso” comes back as “Hey, say so”. So letters are compared and not words,
and the beginning counts most: “they say so” and “hey, so” are ordinary speech.
"""

from __future__ import annotations

import re
from itertools import accumulate

from rapidfuzz import fuzz

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_ALIKE = 88.0
"""Least likeness of the letters, of 100."""
_FIRST_ALIKE = 90.0
"""Least likeness of the letters of the first word."""
_MORE_WORDS = 3
"""How many words more than it has a phrase may be heard as."""


def after_phrase(heard: str, phrase: str) -> str | None:
    """What follows the phrase, empty where nothing does; None where ``heard`` does not begin with it.

    An empty phrase is never said.
    """
    wanted = [found.group().lower() for found in _WORD.finditer(phrase)]
    if not wanted:
        return None
    words = list(_WORD.finditer(heard))[: len(wanted) + _MORE_WORDS]
    letters = "".join(wanted)
    best, end = 0.0, 0
    for said, word in zip(accumulate(found.group().lower() for found in words), words, strict=True):
        alike = fuzz.ratio(said, letters)
        if alike > best:
            best, end = alike, word.end()
    if best < _ALIKE or not _begins_alike("".join(found.group().lower() for found in words), wanted[0]):
        return None
    return heard[end:].lstrip(" \t\n.,:;!?\u2026-")


def _begins_alike(said: str, first: str) -> bool:
    return max(fuzz.ratio(said[:length], first) for length in range(len(first) - 1, len(first) + 2)) >= _FIRST_ALIKE
