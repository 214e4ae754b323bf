"""Word lag, word error and flicker of a live transcript against reference words with end times. Pure.

The *word lag* of a reference word is the time of the last change to it, or to anything before it, minus the time its
sound ended. A missing or wrong word has infinite lag. *Flicker* counts shown words that were changed or withdrawn
later, for every 100 words of the final transcript.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Log = Sequence[tuple[float, str]]
"""Seconds since the audio began, and the whole transcript as shown from then on."""


@dataclass(frozen=True)
class Lags:
    """One session's result."""

    seconds: tuple[float, ...]
    """One for each reference word, smallest first."""
    word_error: float
    flicker: float

    def quantile(self, share: float) -> float:
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


def plain_words(text: str) -> list[str]:
    """Words without case and marks."""
    letters = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "").replace("'", "")
    return "".join(c if c.isalnum() else " " for c in letters).split()


def aligned(reference: Sequence[str], heard: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Pairs of equal words on a cheapest edit path, and the edit distance."""
    rows = [[i + j if i * j == 0 else 0 for j in range(len(heard) + 1)] for i in range(len(reference) + 1)]
    for i, word in enumerate(reference, 1):
        for j, other in enumerate(heard, 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (word != other))
    pairs, i, j = [], len(reference), len(heard)
    while i and j:
        same = reference[i - 1] == heard[j - 1]
        if rows[i][j] == rows[i - 1][j - 1] + (not same):
            i, j = i - 1, j - 1
            if same:
                pairs.append((i, j))
        elif rows[i][j] == rows[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1], rows[-1][-1]


def settled_at(log: Log) -> list[float]:
    """For every word of the final transcript the time from which it and all before it stayed as they are."""
    final = plain_words(log[-1][1]) if log else []
    times = [math.inf] * len(final)
    for at, text in log:
        shown = plain_words(text)
        same = 0
        while same < min(len(shown), len(final)) and shown[same] == final[same]:
            same += 1
        times = [min(time, at) if k < same else math.inf for k, time in enumerate(times)]
    return times


def flicker(log: Log) -> float:
    """Words changed or withdrawn after they were shown, for every 100 final words."""
    changes, before = 0, list[str]()
    for _, text in log:
        shown = plain_words(text)
        changes += sum(k >= len(shown) or shown[k] != word for k, word in enumerate(before))
        before = shown
    return 100 * changes / max(1, len(before))


def lags(reference: Sequence[tuple[str, float]], log: Log) -> Lags:
    """``reference`` holds words and the seconds at which they ended."""
    words = [(plain[0], end) for word, end in reference if (plain := plain_words(word))]
    final = plain_words(log[-1][1]) if log else []
    times = settled_at(log)
    pairs, distance = aligned([word for word, _ in words], final)
    out = [math.inf] * len(words)
    for i, j in pairs:
        out[i] = times[j] - words[i][1]
    return Lags(tuple(sorted(out)), distance / max(1, len(words)), flicker(log))
