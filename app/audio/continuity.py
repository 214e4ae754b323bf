"""How much sound has been lost between a device and its reader, told by the clock. Pure.

A stream that was not read in time goes on later without what it could not keep: no error, no zeros, only fewer samples
than time has passed. Nor does every sound server tell. Samples may come late, in bursts, and by a clock that is a bit
slower than ours; what is lost never comes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

LEAST_S = 0.4
"""Less is within what devices, servers and a loaded machine delay for seconds."""
_PIECE_S = 0.5
_SURE = 4
"""Pieces after a gap in which the samples stay as late as they are: what was only delayed catches up meanwhile."""
_STEADY_S = 0.2
_REMEMBERED = 40
"""Pieces, 20 s: two clocks that differ by a tenth of a percent drift apart by much less than ``LEAST_S`` in that."""


@dataclass(slots=True)
class _Piece:
    """Half a second of the stream: the least that its samples were late by."""

    ends_s: float
    lag_s: float


class Continuity:
    """One stream's. Times are seconds of a clock that stands still while the computer sleeps."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._frames = 0
        self._began_s: float | None = None
        self._pieces: deque[_Piece] = deque(maxlen=_REMEMBERED)

    def feed(self, frames: int, now_s: float) -> float:
        """So many frames have come, up to now; the seconds of sound that turn out to be lost, mostly 0."""
        if self._began_s is None:
            # The first block was recorded before it came.
            self._began_s = now_s - frames / self._rate
        self._frames += frames
        position_s = self._frames / self._rate
        if not self._note(position_s, now_s - self._began_s - position_s) or len(self._pieces) <= _SURE:
            return 0.0
        return self._judge()

    def _note(self, position_s: float, lag_s: float) -> bool:
        """Whether a piece has begun, so that those before it are whole."""
        if self._pieces and position_s < self._pieces[-1].ends_s:
            self._pieces[-1].lag_s = min(self._pieces[-1].lag_s, lag_s)
            return False
        self._pieces.append(_Piece(position_s + _PIECE_S, lag_s))
        return True

    def _judge(self) -> float:
        lags = [piece.lag_s for piece in self._pieces]
        before, since = lags[: -_SURE - 1], lags[-_SURE - 1 : -1]
        if not before or max(since) - min(since) > _STEADY_S:
            return 0.0
        lost_s = min(since) - min(before)
        if lost_s < LEAST_S:
            return 0.0
        for _ in before:
            self._pieces.popleft()
        return lost_s
