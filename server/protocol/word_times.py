"""Where in the audio the last shown words were said, and where a replay may begin. Pure; positions in samples.

A server's word times are good to a tenth or two of a second. A replay that began exactly where the last stable word is
said to end would clip the next one, and a recogniser that starts in mid-speech is at its worst. So a replay begins some
words earlier, in a pause if there is one, and its first words are matched with those that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sayso.server.protocol.events import SAMPLE_RATE

_LEAST_CONTEXT = 2 * SAMPLE_RATE
_MOST_CONTEXT = 6 * SAMPLE_RATE
_LEAD = SAMPLE_RATE // 10
_DOUBT = SAMPLE_RATE
"""Two hearings of the same word differ by less, unless they are different words."""


@dataclass(frozen=True, slots=True)
class TimedWord:
    """One word as it is written between spaces."""

    text: str
    start: int
    end: int
    probability: float = 1.0


class WordTimes:
    """The shown words of a turn, oldest first, as far back as a replay could need them."""

    def __init__(self) -> None:
        self._words: list[TimedWord] = []

    def __bool__(self) -> bool:
        return bool(self._words)

    def __len__(self) -> int:
        return len(self._words)

    @property
    def end(self) -> int:
        """Where the last word ends; 0 without one."""
        return self._words[-1].end if self._words else 0

    def add(self, words: Iterable[TimedWord]) -> None:
        """More words are shown."""
        self._words += words

    def lengthen(self, word: TimedWord) -> None:
        """The last word goes on."""
        if self._words:
            last = self._words[-1]
            self._words[-1] = replace(last, text=last.text + word.text, end=word.end)

    def clear(self) -> None:
        """The times are not known any more."""
        self._words.clear()

    def settle(self, position: int) -> int | None:
        """All audio before ``position`` has come out as text: the position from which audio must still be kept.

        Words before it are forgotten. None when all must be kept.
        """
        if self._words and self._words[-1].end <= position - _MOST_CONTEXT:
            # Nothing was said for so long that the silence is the pause to begin in.
            self._words.clear()
            return position - _LEAD
        starts = [
            (word.start - self._words[index - 1].end if index else 0, index)
            for index, word in enumerate(self._words)
            if position - _MOST_CONTEXT <= word.start <= position - _LEAST_CONTEXT
        ]
        if not starts:
            return None
        _, index = max(starts)
        del self._words[:index]
        return max(0, self._words[0].start - _LEAD)


class HeardWords:
    """The words of a server's turn that are not known to be shown yet: those of replayed audio are mostly not."""

    def __init__(self) -> None:
        self._held: list[TimedWord] = []
        self._begun = False

    def hear(self, words: Iterable[TimedWord], shown: WordTimes) -> None:
        """Times of the words of the last delta. A piece without a space before it lengthens the word before."""
        for word in words:
            if word.text[:1].isspace() or not self._begun:
                self._held.append(replace(word, text=word.text.strip()))
            elif self._held:
                last = self._held[-1]
                self._held[-1] = replace(last, text=last.text + word.text, end=word.end)
            else:
                shown.lengthen(word)
            self._begun = True

    def __len__(self) -> int:
        return len(self._held)

    def before(self, position: int) -> tuple[int, int, int]:
        """How many of these words were said before ``position``: at least, probably and at most, as times are good."""
        least = sum(word.end <= position - _DOUBT for word in self._held)
        likely = sum(word.start + word.end <= 2 * position for word in self._held)
        most = sum(word.start < position + _DOUBT for word in self._held)
        return least, max(least, likely), max(least, likely, most)

    def take(self, count: int) -> list[TimedWord]:
        """The last ``count`` words, which are shown; the ones before are those that were shown already.

        Fewer where the times of some are not known.
        """
        taken, self._held = self._held[max(0, len(self._held) - count) :] if count else [], []
        return taken
