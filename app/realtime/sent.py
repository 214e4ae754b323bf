"""What was sent over a connection and is not known to have come, so that it can be taken back. Pure.

A server that takes a session up again tells how many events it got; those after them were lost with the connection.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from sayso.app.realtime.turn import Sending


@dataclass(frozen=True, slots=True)
class Sent:
    """One event for a turn: ``before`` is how much audio of it was sent until then; None when it opened the turn."""

    sending: Sending
    before: int | None
    final: bool = False
    gaps: int = 0
    """How much audio had been given up in it by then, as a number of places."""


class SentLog:
    def __init__(self) -> None:
        self._entries: deque[Sent] = deque()
        self.count = 0
        """All events of this session of the server."""

    def add(self, sent: Sent) -> None:
        self.count += 1
        self._entries.append(sent)

    def settle(self, position: int) -> None:
        """The server has answered for all audio before this position of the turn that it has."""
        while len(self._entries) > 1 and (self._entries[1].before or 0) <= position and not self._entries[0].final:
            self._entries.popleft()

    def clear(self) -> None:
        """The server has answered for everything so far."""
        self._entries.clear()

    def take_back(self, received: int) -> list[Sent] | None:
        """Forget what came after the first ``received`` events: newest first. None when that cannot be right."""
        lost = self.count - received
        if not 0 <= lost <= len(self._entries):
            return None
        self.count = received
        return [self._entries.pop() for _ in range(lost)]
