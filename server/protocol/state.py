"""The state of one connection on the wire: one table, one setter. Pure; runs wherever its owner runs.

NEW: no model was chosen yet. READY: no turn is open. STREAMING: a turn is open and takes audio. DRAINING: the turn's
audio has ended and its last text is awaited. CLOSED and FAILED are the ends: the client's wish, or something that
cannot be gone on from.
"""

from __future__ import annotations

import logging
from enum import Enum

logger = logging.getLogger(__name__)


class WireState(Enum):
    NEW = "new"
    READY = "ready"
    STREAMING = "streaming"
    DRAINING = "draining"
    CLOSED = "closed"
    FAILED = "failed"


_ENDS = frozenset({WireState.CLOSED, WireState.FAILED})

TRANSITIONS: dict[WireState, frozenset[WireState]] = {
    WireState.NEW: _ENDS | {WireState.READY},
    WireState.READY: _ENDS | {WireState.STREAMING, WireState.DRAINING, WireState.NEW},
    WireState.STREAMING: _ENDS | {WireState.DRAINING, WireState.READY},
    WireState.DRAINING: _ENDS | {WireState.READY},
    WireState.CLOSED: frozenset(),
    WireState.FAILED: frozenset(),
}
"""READY to DRAINING is a commit with ``final`` for audio that no commit had started. READY to NEW happens when the
engine turns out to serve another model than the one that was accepted while it was still loading."""


class TransitionError(RuntimeError):
    """A transition that the table does not have: a fault in the server, never in a client."""


class WireMachine:
    """Holds the state of one connection and changes it only as ``TRANSITIONS`` allows."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._state = WireState.NEW

    @property
    def state(self) -> WireState:
        return self._state

    @property
    def ended(self) -> bool:
        return self._state in _ENDS

    def to(self, state: WireState) -> None:
        """Go to ``state``; raises ``TransitionError`` when the table has no such way."""
        if state not in TRANSITIONS[self._state]:
            raise TransitionError(f"{self._session}: no way from {self._state.value} to {state.value}")
        logger.debug("session %s: %s -> %s", self._session, self._state.value, state.value)
        self._state = state
