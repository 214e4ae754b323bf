"""Where the text of replayed audio goes on behind the text that is shown already. Pure.

After a drop the audio since the last confirmed point is heard again, perhaps by another model. Its first words are
mostly those that are shown already and that are never taken back; the new text must go on behind them, neither doubled
nor with a hole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LOOK_AHEAD = 3
"""Words heard beyond the shown ones before the joint is decided: models differ by a word more or less."""

_FEW = 3
_UNRELATED = 0.75
"""At this cost a word the two texts have nothing in common: then only times tell what was shown, and without them
nothing may be cut off."""


@dataclass(frozen=True)
class Between:
    """How many of the heard words were shown before, by their times: at least, probably and at most."""

    least: int
    likely: int
    most: int


class Rejoin:
    """Takes the replayed text piece by piece and lets through what is new."""

    def __init__(self, shown: str, hole: bool = False) -> None:
        """``shown`` is the text shown for the audio that is replayed; with a ``hole`` its start is not replayed."""
        self._hole = hole
        self._shown = [_plain(word) for word in shown.split()]
        self._heard = ""
        self._decided = not self._shown

    @property
    def is_decided(self) -> bool:
        """Whether all text has been let through or dropped: none is held."""
        return self._decided

    def feed(self, piece: str, between: Between | None = None) -> str:
        """The next piece of replayed text; what of the text so far is new, often nothing yet.

        ``between`` counts the words heard so far, this piece included.
        """
        if self._decided:
            return piece
        self._heard += piece
        # A last word without a space behind it may still grow.
        if len(self._heard.rstrip().split(" ")) - 1 < len(self._shown) + _LOOK_AHEAD:
            return ""
        return self.finish(between)

    def heard_words(self, piece: str = "") -> list[str]:
        """The words that were fed and not let through, and those of a piece that is to be fed."""
        return (self._heard + piece).split()

    def preview(self, tentative: str) -> str:
        """What of tentative text, behind all that was fed, is new; nothing is decided by it."""
        return tentative if self._decided else _behind(self._heard + tentative, self._shown, self._hole)

    def finish(self, between: Between | None = None) -> str:
        """Decide now: the audio is over."""
        if self._decided:
            return ""
        self._decided = True
        return _behind(self._heard, self._shown, self._hole, between)


def _behind(heard: str, shown: list[str], hole: bool, between: Between | None = None) -> str:
    """The part of ``heard`` behind the place where it has said all of ``shown``."""
    words = list(re.finditer(r"\S+", heard))
    cut = _best_cut([_plain(word.group()) for word in words], shown, hole, between)
    return heard[words[cut - 1].end() :] if cut else heard


def _best_cut(heard: list[str], shown: list[str], hole: bool, between: Between | None) -> int:
    """How many words of ``heard`` are ``shown``, or its end: the prefix that aligns best, the likelier length on a tie.

    An equal word counts 1, a different, missing or added one -1; with a hole the first words of ``shown`` may be
    missing for nothing.
    """
    row = [0 if hole else -index for index in range(len(shown) + 1)]
    scores = [row[-1]]
    for count, word in enumerate(heard, 1):
        before, row = row, [-count]
        for index, other in enumerate(shown, 1):
            row.append(max(before[index] - 1, row[-1] - 1, before[index - 1] + (1 if word == other else -1)))
        scores.append(row[-1])
    lengths = range(between.least, between.most + 1) if between else range(len(scores))
    likely = between.likely if between else len(shown)
    best = max(lengths, key=lambda count: (scores[count], -abs(likely - count)))
    if len(shown) >= _FEW and scores[best] <= -_UNRELATED * len(shown):
        return between.likely if between else 0
    return best


def _plain(word: str) -> str:
    return re.sub(r"[^\w']", "", word).casefold()
