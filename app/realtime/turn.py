"""One utterance on its way to a server: the user's turn, and the turn as the server knows it. Pure.

Positions are samples since the first sample of the user's turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sayso.app.realtime.events import TurnLost
from sayso.server.protocol.events import SAMPLE_RATE
from sayso.server.protocol.rejoin import Rejoin
from sayso.server.protocol.word_times import HeardWords, WordTimes

BYTES_PER_SAMPLE = 2
SAMPLES_PER_MS = SAMPLE_RATE // 1000


@dataclass(slots=True)
class Turn:
    """One utterance of the user; positions are samples since its first."""

    id: int
    length: int = 0
    kept: bytearray = field(default_factory=bytearray)
    kept_from: int = 0
    confirmed: int = 0
    """All audio before this has come back as text, or is counted as lost."""
    text: str = ""
    pending: str = ""
    """The end of ``text`` that belongs to audio not yet confirmed."""
    words: WordTimes = field(default_factory=WordTimes)
    """Times of the last words of ``pending``, where the server tells them."""
    hole: bool = False
    """Audio at the start of ``pending`` is lost and will not be heard again."""
    ended: bool = False
    cancelled: bool = False
    failures: int = 0


@dataclass(slots=True)
class Sending:
    """The turn as the server knows it now: it began at sample ``base`` of the user's turn."""

    turn: Turn
    base: int
    sent: int
    rejoin: Rejoin
    final: bool = False
    heard: str = ""
    """All deltas of the server's turn, joined."""
    shown: bool = False
    words: HeardWords = field(default_factory=HeardWords)
    new_words: int = 0
    """Words that were shown and whose times have not come yet."""
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Audio given up before it was sent: after so many samples of the server's turn, so many are missing."""

    def position(self, server_samples: int) -> int:
        """Where in the user's turn so many samples of the server's turn end."""
        return self.base + server_samples + sum(missing for after, missing in self.gaps if after < server_samples)


def show(sending: Sending, piece: str) -> str:
    """Append new text to the user's turn, spaced as it must be; what was appended, or nothing."""
    turn = sending.turn
    if not turn.text:
        piece = piece.lstrip()
    elif piece and not sending.shown and not piece[0].isspace():
        piece = " " + piece
    if piece and not turn.cancelled:
        lengthens = bool(turn.text) and not turn.text[-1].isspace() and not piece[0].isspace()
        sending.new_words += len(piece.split()) - lengthens
        sending.shown = True
        turn.text += piece
        turn.pending += piece
    return piece


def settle(turn: Turn, position: int) -> None:
    """All audio before this position has come out as text: keep only what a replay would need."""
    turn.failures = 0
    if turn.words:
        start = turn.words.settle(position)
        if start is None or start <= turn.confirmed:
            return
        turn.pending = " ".join(turn.pending.split()[-len(turn.words) :]) if turn.words else ""
    else:
        start, turn.pending = position, ""
    turn.hole = False
    release(turn, start)


def forget(turn: Turn, position: int) -> None:
    """Keep no audio before this position."""
    count = position - turn.kept_from
    if count > 0:
        del turn.kept[: count * BYTES_PER_SAMPLE]
        turn.kept_from = position


def release(turn: Turn, position: int) -> None:
    """All audio before this position is confirmed."""
    turn.confirmed = max(turn.confirmed, position)
    turn.failures = 0
    forget(turn, position)


def lose(turn: Turn, position: int, code: str, message: str) -> TurnLost:
    """Count all unconfirmed audio before this position as lost."""
    count = position - turn.confirmed
    turn.confirmed = position
    turn.hole = bool(turn.pending)
    forget(turn, position)
    return TurnLost(turn.id, count // SAMPLES_PER_MS, code, message)
