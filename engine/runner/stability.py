"""Which words of a hypothesis will not change any more. Pure.

A word becomes stable when two hypotheses in a row agree on it and on all before it, when another word follows it
that was said later, and when it ended some time before the end of the audio: the last word heard is often half a
word. What is stable is never taken back, so the decoder goes on after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.engine.messages import SAMPLE_RATE
from sayso.engine.runner.base import SpokenWord

FASTEST_LETTERS_A_SECOND = 24
SPARE_LETTERS = 8
"""Word times are good to about 0.2 s, so a few letters more than the time allows may be right."""


def plain(text: str) -> str:
    """A word without case and marks, for comparing; marks alone stay as they are."""
    letters = "".join(c for c in text.lower() if c.isalnum())
    return letters or text.strip()


def agreement(earlier: Sequence[SpokenWord], later: Sequence[SpokenWord]) -> int:
    """Number of words at the beginning that are the same in both."""
    count = 0
    for a, b in zip(earlier, later, strict=False):
        if plain(a.text) != plain(b.text):
            break
        count += 1
    return count


def settled(earlier: Sequence[SpokenWord], later: Sequence[SpokenWord], latest_end: int) -> int:
    """How many words of ``later`` are stable; ``latest_end`` is the last sample at which a stable word may end."""
    count = min(agreement(earlier, later), len(later) - 1)
    for index in range(count):
        word = later[index]
        if word.end > latest_end or not any(w.start >= word.start and w.end > word.end for w in later[index + 1 :]):
            return index
    return max(0, count)


def overlap(said: Sequence[SpokenWord], words: Sequence[SpokenWord], most: int = 8) -> int:
    """How many words at the beginning of ``words`` repeat the end of ``said``: the longest such run of two or more."""
    for length in range(min(most, len(said), len(words)), 1, -1):
        if agreement(said[-length:], words[:length]) == length:
            return length
    return 0


def sayable(words: Sequence[SpokenWord], start: int, end: int) -> int:
    """How many of ``words`` can have been said between the samples ``start`` and ``end``.

    A decoder that runs on after the end of the speech crowds its inventions into the last moments: so from every
    word on, the rest must fit between that word's start and the end.
    """
    count = len(words)
    for first, word in enumerate(words):
        since = max(start, word.start) if first else start
        room = SPARE_LETTERS + FASTEST_LETTERS_A_SECOND * max(0, end - since) / SAMPLE_RATE
        for index in range(first, count):
            room -= len(plain(words[index].text))
            if room < 0:
                count = index
                break
    return count


def showable(words: Sequence[SpokenWord], end: int, edge: int, sure: float) -> int:
    """How many tentative words to show: not a last one that the audio's end may have cut, unless it is ``sure``.

    ``edge`` is how many samples before ``end`` a word must have ended to be whole.
    """
    cut = words and words[-1].end > end - edge and words[-1].probability < sure
    return len(words) - 1 if cut else len(words)
