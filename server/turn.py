"""The open turn of one connection: audio on its way to the engine, audio that a replay would need, and its text. Pure.

An engine may die or be ended in mid-turn. So the audio since the last confirmed point is kept, from some words before
it, and given to the next engine as a new turn of that one; its first words are those that were sent already, and the
text goes on behind them. Positions are samples since the turn's first sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.engine import messages
from sayso.server.protocol.audio import BYTES_PER_SAMPLE
from sayso.server.protocol.intents import HeardWord
from sayso.server.protocol.rejoin import Between, Rejoin
from sayso.server.protocol.word_times import HeardWords, TimedWord, WordTimes

SAMPLES_PER_MS = messages.SAMPLE_RATE // 1000
MOST_REPLAYS = 3
"""So often a turn is replayed without any progress: its audio may be what ends the engine."""


@dataclass(frozen=True)
class Heard:
    """What of the engine's text is new to the client; times are the turn's own."""

    piece: str
    words: Sequence[HeardWord] = ()


class Turn:
    def __init__(self, chunks: Sequence[bytes] = (), *, ended: bool = False, keep_s: float = 300.0) -> None:
        """``chunks``: audio that came before; ``keep_s`` bounds what is kept for a replay."""
        self._backlog = list(chunks)
        self.waiting = self.samples = sum(map(len, self._backlog)) // BYTES_PER_SAMPLE
        """``samples``: all audio so far. ``waiting``: that of it which the engine has not got."""
        self.ended = ended
        self.sent = self.flushed = False
        self.tokens = 0
        self._keep = int(keep_s * messages.SAMPLE_RATE)
        self._kept = bytearray()
        self._kept_from = 0
        self._confirmed = 0
        self._base = 0
        """Where the engine's turn began."""
        self._text = ""
        self._pending = ""
        """The end of the text that belongs to what is kept."""
        self._hole = False
        self._rejoin = Rejoin("")
        self._spaced = True
        """Whether text of the engine's turn was let through already."""
        self._times = WordTimes()
        self._heard = HeardWords()
        self._new_words = 0
        self._speech_ms = -1
        self._replays = 0

    @property
    def text(self) -> str:
        return self._text

    @property
    def kept_bytes(self) -> int:
        """Audio held here."""
        return len(self._kept) + self.waiting * BYTES_PER_SAMPLE

    @property
    def confirmed_ms(self) -> int:
        """All audio before this time has come out as stable text."""
        return self._confirmed // SAMPLES_PER_MS

    # Audio.

    def add(self, pcm: bytes) -> None:
        self._backlog.append(pcm)
        self.samples += len(pcm) // BYTES_PER_SAMPLE
        self.waiting += len(pcm) // BYTES_PER_SAMPLE

    def take(self) -> list[bytes]:
        """What the engine is to get now; it is kept until it is confirmed."""
        chunks, self._backlog, self.waiting = self._backlog, [], 0
        for pcm in chunks:
            self._kept += pcm
        self.sent = self.sent or bool(chunks)
        self._forget(self._kept_from + len(self._kept) // BYTES_PER_SAMPLE - self._keep)
        return chunks

    def rewind(self) -> int | None:
        """The engine has lost the turn: what is kept waits again; milliseconds of it that are gone for good.

        None when it has been tried too often.
        """
        self._replays += 1
        if self._replays > MOST_REPLAYS:
            return None
        gone = max(0, self._kept_from - self._confirmed)
        self._hole = self._hole or (gone > 0 and bool(self._pending))
        self._confirmed = max(self._confirmed, self._kept_from)
        self._backlog = ([bytes(self._kept)] if self._kept else []) + self._backlog
        self.waiting += len(self._kept) // BYTES_PER_SAMPLE
        self._kept.clear()
        self._base = self._kept_from
        self._rejoin, self._spaced = Rejoin(self._pending, self._hole), False
        self._heard, self._new_words = HeardWords(), 0
        self.sent = self.flushed = False
        return gone // SAMPLES_PER_MS

    def _forget(self, position: int) -> None:
        count = min(position - self._kept_from, len(self._kept) // BYTES_PER_SAMPLE)
        if count > 0:
            del self._kept[: count * BYTES_PER_SAMPLE]
            self._kept_from += count

    # Text.

    def time_ms(self, engine_ms: int) -> int:
        """A time of the engine's turn as one of this turn."""
        return self._base // SAMPLES_PER_MS + engine_ms

    def hear(self, message: messages.Text) -> Heard:
        """Stable text of the engine: what of it is new."""
        self.tokens += message.tokens
        words = [self._shifted(word) for word in message.words]
        self._heard.hear((_timed(word) for word in words), self._times)
        through = self._rejoin.is_decided
        piece = self._show(self._rejoin.feed(message.piece, self._between(message.piece)))
        if not self._rejoin.is_decided:
            return Heard("")
        shown = self._take_words()
        return Heard(piece, words if through else shown)

    def rest(self) -> Heard:
        """The engine's turn is over: text that waited for the joint."""
        if self._rejoin.is_decided:
            return Heard("")
        piece = self._show(self._rejoin.finish(self._between()))
        return Heard(piece, self._take_words())

    def _between(self, piece: str = "") -> Between | None:
        """How many words of the replay can be those that were sent; None when their times do not tell."""
        if self._rejoin.is_decided or not self._times or len(self._rejoin.heard_words(piece)) != len(self._heard):
            return None
        return Between(*self._heard.before(self._confirmed))

    def quiet(self, message: messages.Text) -> Heard:
        """Nobody speaks and all text up to this time is out: what waits for the joint waits for no more words.

        Only once the replay has come to where the shown text ends: in a pause before that, words follow which are
        shown already.
        """
        if self.time_ms(message.end_ms) * SAMPLES_PER_MS < self._confirmed:
            return Heard("")
        return self.rest()

    def guess(self, tentative: str) -> str:
        """Tentative text of the engine as it follows the text that was sent."""
        text = self._rejoin.preview(tentative)
        return self._fitted(text)

    def confirm(self, message: messages.Text) -> bool:
        """Stable text came: forget the audio that it settles; whether the confirmed time has moved."""
        engine_ms = message.words[-1].end_ms if message.words else message.end_ms
        position = min(self.time_ms(engine_ms) * SAMPLES_PER_MS, self.samples)
        if not self._rejoin.is_decided or position <= self._confirmed:
            return False
        self._confirmed, self._replays = position, 0
        if self._times:
            start = self._times.settle(position)
            if start is None:
                return True
            self._pending = " ".join(self._pending.split()[-len(self._times) :]) if self._times else ""
        else:
            start, self._pending = position, ""
        self._hole = False
        self._forget(start)
        return True

    def tells_speech(self, engine_ms: int) -> bool:
        """Whether speech that the engine hears at this time was not told already, before a replay."""
        told, self._speech_ms = self._speech_ms, max(self._speech_ms, self.time_ms(engine_ms))
        return self._speech_ms > told

    def _show(self, piece: str) -> str:
        piece = self._fitted(piece)
        if piece:
            lengthens = bool(self._text) and not self._text[-1].isspace() and not piece[0].isspace()
            self._new_words += len(piece.split()) - lengthens
            self._spaced = True
            self._text += piece
            self._pending += piece
        return piece

    def _fitted(self, piece: str) -> str:
        """A replay's first piece begins without the space that its place in the turn asks for."""
        if self._spaced or not piece:
            return piece
        if not self._text or self._text[-1].isspace():
            return piece.lstrip()
        return piece if piece[0].isspace() else f" {piece}"

    def _take_words(self) -> list[HeardWord]:
        taken, self._new_words = self._heard.take(self._new_words), 0
        self._times.add(taken)
        return [_heard(word) for word in taken]

    def _shifted(self, word: messages.Word) -> HeardWord:
        return HeardWord(word.text, self.time_ms(word.start_ms), self.time_ms(word.end_ms), word.probability)


def _timed(word: HeardWord) -> TimedWord:
    return TimedWord(word.text, word.start_ms * SAMPLES_PER_MS, word.end_ms * SAMPLES_PER_MS, word.probability)


def _heard(word: TimedWord) -> HeardWord:
    start_ms, end_ms = word.start // SAMPLES_PER_MS, word.end // SAMPLES_PER_MS
    return HeardWord(f" {word.text}", start_ms, end_ms, word.probability)
