"""What was said, as lines for the windows: a pure reducer of the realtime client's events.

One line per turn. Stable text only grows; a line's kind and its removal come from the assistant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sayso.app.realtime.events import RealtimeEvent, TurnDone, TurnLost, TurnStable, TurnTentative
from sayso.app.snapshot import Line, LineKind

KEPT_LINES = 200
"""Older lines are dropped: a day of listening must not grow the memory."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The lines, oldest first; every method gives a new transcript."""

    lines: tuple[Line, ...] = ()

    def begin(self, turn: int, started_at: float) -> Transcript:
        """A new line for this turn; ``started_at`` in seconds since the epoch."""
        line = Line(turn, "", "", LineKind.OPEN, started_at)
        return Transcript((*self.lines, line)[-KEPT_LINES:])

    def apply(self, event: RealtimeEvent) -> Transcript:
        """What the event changes; events of unknown turns change nothing."""
        match event:
            case TurnStable(turn, text):
                line = self.find(turn)
                return self._put(turn, stable=line.stable + text, tentative="") if line else self
            case TurnTentative(turn, text):
                return self._put(turn, tentative=text)
            case TurnLost(turn, lost_ms):
                line = self.find(turn)
                return self._put(turn, lost_ms=line.lost_ms + lost_ms) if line else self
            case TurnDone(turn, text):
                return self._done(turn, text)
        return self

    def missed(self, turn: int | None, at: float, missed_ms: int) -> Transcript:
        """Sound that was not heard, up to ``at`` (seconds since the epoch): of the open turn, or a line of its own."""
        if turn is not None:
            return self.apply(TurnLost(turn, missed_ms, "not_heard", ""))
        # Turns have positive numbers.
        line = Line(-round(at * 1000), "", "", LineKind.MISSED, at - missed_ms / 1000, missed_ms)
        return Transcript((*self.lines, line)[-KEPT_LINES:])

    def mark(self, turn: int, kind: LineKind, meant: str = "") -> Transcript:
        """What became of the utterance, and which command may have been meant."""
        return self._put(turn, kind=kind, meant=meant)

    def remove(self, turn: int) -> Transcript:
        """Without the line of this turn."""
        return Transcript(tuple(line for line in self.lines if line.id != turn))

    def without_finished(self) -> Transcript:
        """The lines that are still being said or heard."""
        return Transcript(tuple(line for line in self.lines if line.kind is LineKind.OPEN))

    def find(self, turn: int) -> Line | None:
        """The line of this turn."""
        return next((line for line in reversed(self.lines) if line.id == turn), None)

    def _done(self, turn: int, text: str) -> Transcript:
        line = self.find(turn)
        if line is None:
            return self
        if not text.strip() and not line.lost_ms:
            # A cough: nothing was said, so nothing is shown.
            return self.remove(turn)
        kind = LineKind.PLAIN if text.strip() else LineKind.LOST
        return self._put(turn, stable=text, tentative="", kind=kind if line.kind is LineKind.OPEN else line.kind)

    def _put(self, turn: int, **changes: object) -> Transcript:
        return Transcript(tuple(replace(line, **changes) if line.id == turn else line for line in self.lines))  # type: ignore[arg-type]
