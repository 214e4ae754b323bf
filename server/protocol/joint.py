"""The text of one turn that is shown, and how what is heard again goes on behind it. Pure; positions in samples.

A turn may be heard more than once: its server or its engine is lost, and the audio that has not come out as text goes
to another one, from some words before. Whoever keeps that audio, the desktop or the server, keeps one of these with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sayso.server.protocol.rejoin import Between, Rejoin
from sayso.server.protocol.word_times import HeardWords, TimedWord, WordTimes


@dataclass(frozen=True, slots=True)
class Shown:
    """What is new to whoever reads the turn; the times are those of its words, where they are known by now."""

    piece: str
    words: Sequence[TimedWord] = ()


NOTHING = Shown("")


class Joint:
    """All that is shown of a turn, and one hearing of its audio at a time."""

    def __init__(self, *, spaced: bool = False) -> None:
        """``spaced``: the first hearing's text is shown as it comes, with or without a space before it."""
        self.text = ""
        self.told = 0
        """All audio before this position has come out as text that is shown, or is lost."""
        self._pending = ""
        """The end of the text that the audio still kept would give again."""
        self._hole = False
        """Audio at the start of what is pending is lost and will not be heard again."""
        self._times = WordTimes()
        """Of the last words of what is pending, all of them or as many as are known without a gap."""
        self._new_words = 0
        """Words that are shown and whose times have not come yet."""
        self.hear_again()
        self._spaced = spaced

    def hear_again(self) -> None:
        """A hearing of the audio that is kept begins; the one before is over."""
        self._miss_times()
        self._rejoin, self._spaced = Rejoin(self._pending, self._hole), False
        self._heard = HeardWords()

    # Text of the hearing of now.

    @property
    def is_decided(self) -> bool:
        """Whether all that was heard is shown: none is held until it is clear what of it is new."""
        return self._rejoin.is_decided

    @property
    def wants_times(self) -> bool:
        """Whether the times of the next words would tell which of them are shown already."""
        return not self.is_decided and bool(self._times)

    def hear(self, piece: str, words: Iterable[TimedWord] | None = None) -> Shown:
        """More stable text; ``words`` are its words' times, None when they are not known, or not yet."""
        if words is not None:
            self._heard.hear(words, self._times)
        piece = self._show(self._rejoin.feed(piece, self._between(piece)))
        return Shown(piece, self._take_words()) if words is not None else Shown(piece)

    def time(self, words: Iterable[TimedWord]) -> Sequence[TimedWord]:
        """Times of the words heard last, which came behind them; those of words that are shown."""
        self._heard.hear(words, self._times)
        return self._take_words()

    def finish(self) -> Shown:
        """No more text comes: what waited for the joint."""
        if self.is_decided:
            return NOTHING
        return Shown(self._show(self._rejoin.finish(self._between())), self._take_words())

    def quiet(self, position: int) -> Shown:
        """Nobody speaks, and all text up to here is out: what waits for the joint waits for no more words.

        Only once the hearing has come to where the shown text ends: in a pause before that, words follow which are
        shown already.
        """
        return NOTHING if position < self._shown_to else self.finish()

    def preview(self, tentative: str) -> str:
        """Tentative text as it follows what is shown."""
        return self._fitted(self._rejoin.preview(tentative))

    # What becomes of the audio.

    def settle(self, position: int, kept_from: int) -> int | None:
        """Text up to here is shown: the position from which audio must still be kept, None when all must be.

        ``kept_from``: where the audio that is kept begins now.
        """
        self.told = position
        start = self._times.settle(position) if self._times else position
        if start is None:
            return None
        self._pending = " ".join(self._pending.split()[-len(self._times) :]) if self._times else ""
        self._hole = self._hole and start < kept_from
        return start

    def lose(self, position: int) -> None:
        """Audio before this position is lost, and some of it was not out as text."""
        self.told = max(self.told, position)
        self._hole = self._hole or bool(self._pending)

    def close(self) -> None:
        """All audio so far has come out as text: nothing of it is heard again."""
        self._pending, self._hole = "", False
        self._times.clear()

    # Inside.

    def _between(self, piece: str = "") -> Between | None:
        """How many words of this hearing can be shown already; None when their times do not tell."""
        if not self.wants_times or len(self._rejoin.heard_words(piece)) != len(self._heard):
            return None
        return Between(*self._heard.before(self._shown_to))

    @property
    def _shown_to(self) -> int:
        """Where the last shown word ends; nobody may have told yet that all before it is out."""
        return max(self.told, self._times.end)

    def _show(self, piece: str) -> str:
        piece = self._fitted(piece)
        if piece:
            self._miss_times()
            lengthens = bool(self.text) and not self.text[-1].isspace() and not piece[0].isspace()
            self._new_words += len(piece.split()) - lengthens
            self._spaced = True
            self.text += piece
            self._pending += piece
        return piece

    def _fitted(self, piece: str) -> str:
        """A hearing's first piece begins without the space that its place in the turn asks for."""
        if self._spaced or not piece:
            return piece
        if not self.text or self.text[-1].isspace():
            return piece.lstrip()
        return piece if piece[0].isspace() else f" {piece}"

    def _take_words(self) -> Sequence[TimedWord]:
        if not self.is_decided:
            return ()
        wanted, self._new_words = self._new_words, 0
        taken = self._heard.take(wanted)
        if len(taken) < wanted:
            self._times.clear()
        self._times.add(taken)
        return taken

    def _miss_times(self) -> None:
        """The times of words that were shown before did not come."""
        if self._new_words:
            self._new_words = 0
            self._times.clear()
