"""The desktop's state machine: one table, one setter that logs. Tray, buttons and capture follow this state only."""

from __future__ import annotations

import logging

from sayso.app.snapshot import DesktopState

log = logging.getLogger(__name__)

ALLOWED: dict[DesktopState, frozenset[DesktopState]] = {
    DesktopState.STARTING: frozenset({DesktopState.IDLE, DesktopState.LISTENING, DesktopState.QUITTING}),
    DesktopState.IDLE: frozenset({DesktopState.LISTENING, DesktopState.QUITTING}),
    DesktopState.LISTENING: frozenset({DesktopState.IDLE, DesktopState.RECONNECTING, DesktopState.QUITTING}),
    DesktopState.RECONNECTING: frozenset({DesktopState.IDLE, DesktopState.LISTENING, DesktopState.QUITTING}),
    DesktopState.QUITTING: frozenset(),
}


class DesktopStateMachine:
    """Holds the current state; owned by the assistant, used on its event loop only."""

    def __init__(self) -> None:
        self._state = DesktopState.STARTING

    @property
    def state(self) -> DesktopState:
        return self._state

    @property
    def listening(self) -> bool:
        """Whether the microphone is meant to be open; a lost server does not close it."""
        return self._state in (DesktopState.LISTENING, DesktopState.RECONNECTING)

    def move(self, to: DesktopState) -> bool:
        """Move to a state and say whether that changed anything.

        A move that the table does not allow changes nothing: whoever asks may be late (a socket that drops while the
        user quits), and a late event must not bring a state back.
        """
        if to is self._state:
            return False
        if to not in ALLOWED[self._state]:
            log.debug("desktop stays %s: %s is not reachable from it", self._state, to)
            return False
        log.info("desktop %s -> %s", self._state, to)
        self._state = to
        return True
