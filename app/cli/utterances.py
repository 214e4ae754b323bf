"""What ``sayso listen`` tells of: utterances and their text, as values for a terminal or a program. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sayso.app.realtime.events import RealtimeEvent, TurnDone, TurnLost, TurnStable, TurnTentative


@dataclass(frozen=True, slots=True)
class Report:
    """One thing to show. ``start`` and ``end`` are seconds since listening began, ``text`` is all of the utterance."""

    type: Literal["partial", "final", "action", "error"]
    text: str
    start: float
    end: float
    stable: str = ""
    """The part of ``text`` that will not change."""
    code: str = ""
    """Of an error; of an action what became of it."""


@dataclass(slots=True)
class _Utterance:
    start: float
    end: float
    stable: str = ""
    tentative: str = ""


class Utterances:
    """Joins what the listener and the client tell of the same turns; calls ``show`` with what changed."""

    def __init__(self, show: Callable[[Report], None]) -> None:
        self._show = show
        self._open: dict[int, _Utterance] = {}

    def begin(self, turn: int, start: float) -> None:
        """An utterance has begun at this second."""
        self._open[turn] = _Utterance(start, start)

    def heard_until(self, turn: int, end: float) -> None:
        """Its audio reaches to this second by now."""
        if turn in self._open:
            self._open[turn].end = end

    def times(self, turn: int) -> tuple[float, float]:
        """Start and end of an open utterance in seconds since listening began."""
        utterance = self._open.get(turn)
        return (utterance.start, utterance.end) if utterance is not None else (0.0, 0.0)

    def text(self, turn: int) -> str:
        """All text of an open utterance."""
        utterance = self._open.get(turn)
        return utterance.stable + utterance.tentative if utterance is not None else ""

    def apply(self, event: RealtimeEvent) -> None:
        """Text has come, or was lost."""
        match event:
            case TurnStable(turn, text) if turn in self._open:
                utterance = self._open[turn]
                utterance.stable += text
                utterance.tentative = ""
                self._partial(utterance)
            case TurnTentative(turn, text) if turn in self._open:
                utterance = self._open[turn]
                if text != utterance.tentative:
                    utterance.tentative = text
                    self._partial(utterance)
            case TurnDone(turn, text) if turn in self._open:
                utterance = self._open.pop(turn)
                if text.strip():
                    self._show(Report("final", text, utterance.start, utterance.end, text))
            case TurnLost(turn, lost_ms, code, message) if turn in self._open:
                utterance = self._open[turn]
                lost = f"{lost_ms / 1000:.1f} s of speech were lost: {message}"
                self._show(Report("error", lost, utterance.start, utterance.end, code=code))

    def _partial(self, utterance: _Utterance) -> None:
        text = utterance.stable + utterance.tentative
        self._show(Report("partial", text, utterance.start, utterance.end, utterance.stable))
