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
from sayso.server.protocol.intents import HeardWord, OtherText
from sayso.server.protocol.joint import Joint, Shown
from sayso.server.protocol.word_times import TimedWord

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
        self._others: tuple[str, Sequence[OtherText]] = "", ()
        """The piece of text that the engine last told alternatives of, and these."""
        self._keep = int(keep_s * messages.SAMPLE_RATE)
        self._kept = bytearray()
        self._kept_from = 0
        self._base = 0
        """Where the engine's turn began."""
        self._joint = Joint(spaced=True)
        self._speech_ms = -1
        self._replays = 0

    @property
    def text(self) -> str:
        return self._joint.text

    @property
    def others(self) -> Sequence[OtherText]:
        """What the whole of its text may have been instead."""
        piece, others = self._others
        return others if piece.strip() == self.text.strip() else ()

    @property
    def kept_bytes(self) -> int:
        """Audio held here."""
        return len(self._kept) + self.waiting * BYTES_PER_SAMPLE

    @property
    def confirmed_ms(self) -> int:
        """All audio before this time has come out as stable text."""
        return self._joint.told // SAMPLES_PER_MS

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
        gone = max(0, self._kept_from - self._joint.told)
        if gone:
            self._joint.lose(self._kept_from)
        self._backlog = ([bytes(self._kept)] if self._kept else []) + self._backlog
        self.waiting += len(self._kept) // BYTES_PER_SAMPLE
        self._kept.clear()
        self._base = self._kept_from
        self._joint.hear_again()
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
        others = [OtherText(each.text, each.behind, each.by_language) for each in message.alternatives]
        self._others = message.piece, others
        words = [self._shifted(word) for word in message.words]
        through = self._joint.is_decided
        shown = self._joint.hear(message.piece, [_timed(word) for word in words])
        return Heard(shown.piece, words) if through else _heard(shown)

    def rest(self) -> Heard:
        """The engine's turn is over: text that waited for the joint."""
        return _heard(self._joint.finish())

    def quiet(self, message: messages.Text) -> Heard:
        """Nobody speaks and all text up to this time is out."""
        return _heard(self._joint.quiet(self.time_ms(message.end_ms) * SAMPLES_PER_MS))

    def guess(self, tentative: str) -> str:
        """Tentative text of the engine as it follows the text that was sent."""
        return self._joint.preview(tentative)

    def confirm(self, message: messages.Text) -> bool:
        """Stable text came: forget the audio that it settles; whether the confirmed time has moved."""
        engine_ms = message.words[-1].end_ms if message.words else message.end_ms
        position = min(self.time_ms(engine_ms) * SAMPLES_PER_MS, self.samples)
        if not self._joint.is_decided or position <= self._joint.told:
            return False
        self._replays = 0
        start = self._joint.settle(position, self._kept_from)
        if start is not None:
            self._forget(start)
        return True

    def tells_speech(self, engine_ms: int) -> bool:
        """Whether speech that the engine hears at this time was not told already, before a replay."""
        told, self._speech_ms = self._speech_ms, max(self._speech_ms, self.time_ms(engine_ms))
        return self._speech_ms > told

    def _shifted(self, word: messages.Word) -> HeardWord:
        return HeardWord(word.text, self.time_ms(word.start_ms), self.time_ms(word.end_ms), word.probability)


def _timed(word: HeardWord) -> TimedWord:
    return TimedWord(word.text, word.start_ms * SAMPLES_PER_MS, word.end_ms * SAMPLES_PER_MS, word.probability)


def _heard(shown: Shown) -> Heard:
    return Heard(shown.piece, [_told(word) for word in shown.words])


def _told(word: TimedWord) -> HeardWord:
    start_ms, end_ms = word.start // SAMPLES_PER_MS, word.end // SAMPLES_PER_MS
    return HeardWord(f" {word.text}", start_ms, end_ms, word.probability)
