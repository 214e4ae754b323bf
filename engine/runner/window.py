"""The stretch of an utterance that the decoder hears: it grows with the speech and moves on over stable words. Pure.

The window begins at a word boundary. The stable words inside it are given to the decoder as the beginning of its
text, so it goes on after them: nothing is lost and nothing is said twice when the window moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.engine.runner.base import SpokenWord

CONTEXT_WORDS = 24
"""Words before the window that the decoder is told about: more cost time and are repeated in silence."""
SENTENCE_ENDS = ".?!"
CLAUSE_ENDS = ",;:-"


@dataclass(frozen=True)
class WindowOptions:
    """Lengths in samples."""

    longest: int
    """The decoder never hears more at once."""
    comfortable: int
    """Beyond this the window moves on as soon as stable words allow."""
    keep: int
    """Stable speech that stays in the window when it moves, so that the decoder has something to go on from."""


class Window:
    """Where the decoder's audio begins and which stable words are in it. Positions are samples of the turn."""

    def __init__(self, options: WindowOptions, start: int, before: Sequence[SpokenWord] = ()) -> None:
        """``before`` are words of the same turn that were said earlier."""
        self._options = options
        self._passed = list(before)[-CONTEXT_WORDS:]
        self.start = start
        self.words: list[SpokenWord] = []

    @property
    def prefix(self) -> tuple[int, ...]:
        """Tokens of the stable words that are in the window."""
        return tuple(token for word in self.words for token in word.tokens)

    @property
    def context(self) -> tuple[int, ...]:
        """Tokens of the words that were said just before the window."""
        return tuple(token for word in self._passed for token in word.tokens)

    def end(self, available: int) -> int:
        """How far the decoder hears when there is audio up to ``available``."""
        return min(available, self.start + self._options.longest)

    def commit(self, words: Sequence[SpokenWord]) -> None:
        """These words have become stable."""
        self.words += words

    def move(self, available: int) -> bool:
        """Move on when the window is longer than is comfortable and stable words allow; says whether it did."""
        if available - self.start <= self._options.comfortable:
            return False
        cut = self._boundary()
        if cut is None:
            return False
        self.start = max(self.start, (self.words[cut - 1].end + self.words[cut].start) // 2)
        self._passed = [*self._passed, *self.words[:cut]][-CONTEXT_WORDS:]
        del self.words[:cut]
        return True

    def skip_to(self, position: int) -> None:
        """Give up the audio before ``position``: nothing in it could be understood."""
        self.start = max(self.start, position)
        self.words = [word for word in self.words if word.start >= self.start]

    def _boundary(self) -> int | None:
        """Index of the stable word that shall be the first one: after a sentence if possible, else a clause or gap."""
        if not self.words:
            return None
        newest = self.words[-1].end
        candidates = [i for i in range(1, len(self.words)) if newest - self.words[i].start >= self._options.keep]
        if not candidates:
            return None
        return max(candidates, key=lambda i: (self._rank(i), i))

    def _rank(self, index: int) -> int:
        """How good a place to cut it is before the word at ``index``."""
        before, word = self.words[index - 1], self.words[index]
        mark = before.text.rstrip()[-1:]
        if mark in SENTENCE_ENDS and mark:
            return 3
        if mark in CLAUSE_ENDS and mark:
            return 2
        return 1 if word.start > before.end else 0
