"""One utterance on its way to a server: the user's turn, and the turn as the server knows it. Pure.

Positions are samples since the first sample of the user's turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sayso.app.commands.other_text import OtherText
from sayso.app.realtime.events import TurnLost, TurnStable, TurnWord, TurnWords
from sayso.server.protocol.events import SAMPLE_RATE, WireAlternative, WireWord
from sayso.server.protocol.joint import Joint, Shown
from sayso.server.protocol.word_times import TimedWord

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
    """All audio before this is not needed any more: a replay would begin here."""
    joint: Joint = field(default_factory=Joint)
    """What of its text is shown."""
    others: tuple[OtherText, ...] = ()
    """What its text may have been instead."""
    ended: bool = False
    cancelled: bool = False
    failures: int = 0


@dataclass(slots=True)
class Sending:
    """The turn as the server knows it now: it began at sample ``base`` of the user's turn."""

    turn: Turn
    base: int
    sent: int
    final: bool = False
    heard: str = ""
    """All deltas of the server's turn, joined."""
    untimed: str = ""
    """A delta whose words' times are awaited, since they tell what of it is new."""
    spoke: bool = False
    """Whether there were deltas since the last marker."""
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Audio given up before it was sent: after so many samples of the server's turn, so many are missing."""

    @property
    def server_length(self) -> int:
        """Samples of the server's turn that were sent."""
        return self.sent - self.base - sum(missing for _, missing in self.gaps)

    def position(self, server_samples: int) -> int:
        """Where in the user's turn so many samples of the server's turn end."""
        return self.base + server_samples + sum(missing for after, missing in self.gaps if after < server_samples)

    def weigh(self, texts: Sequence[WireAlternative]) -> None:
        """What the server's turn may have been instead; that counts where it is all of the user's turn."""
        if not self.base:
            self.turn.others = tuple(OtherText(each.text, each.behind, each.by_language) for each in texts)

    def placed(self, word: WireWord) -> TimedWord:
        """A word of the server's turn as one of the user's turn."""
        start, end = (self.position(ms * SAMPLES_PER_MS) for ms in (word.start_ms, word.end_ms))
        return TimedWord(word.text, start, end, word.probability)


def told(turn: Turn, shown: Shown) -> Sequence[TurnStable | TurnWords]:
    """What is new, as the client's owner is told."""
    events: list[TurnStable | TurnWords] = [TurnStable(turn.id, shown.piece)] if shown.piece else []
    if shown.words:
        words = (TurnWord(word.text, word.start // SAMPLES_PER_MS, word.end // SAMPLES_PER_MS) for word in shown.words)
        events.append(TurnWords(turn.id, tuple(words)))
    return events


def settle(turn: Turn, position: int) -> None:
    """All audio before this position has come out as text: keep only what a replay would need."""
    turn.failures = 0
    start = turn.joint.settle(position, turn.kept_from)
    if start is not None and start > turn.confirmed:
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
    turn.joint.lose(position)
    forget(turn, position)
    return TurnLost(turn.id, count // SAMPLES_PER_MS, code, message)
