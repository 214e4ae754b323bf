"""Messages on their way to the engine: one queue for each connection, emptied in turn. Pure.

The pipe takes one message of each connection after the other, so a client that sends an hour at once does not hold up
the others.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from sayso.engine import messages


class EngineListener(Protocol):
    """What a connection hears of the engine."""

    def engine_message(self, message: messages.Up) -> None: ...


class Lane:
    """One connection's queue, or the server's own without a listener; ``queued_samples`` counts the audio in it."""

    def __init__(self, listener: EngineListener | None) -> None:
        self.listener = listener
        self.queued_samples = 0
        self._queue: deque[messages.Down] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, message: messages.Down) -> None:
        if isinstance(message, messages.Audio):
            self.queued_samples += len(message.samples) // messages.PCM_BYTES
        elif isinstance(message, messages.Cancel | messages.Close):
            self._take_back(message.session)
        self._queue.append(message)

    def pop(self) -> messages.Down:
        message = self._queue.popleft()
        if isinstance(message, messages.Audio):
            self.queued_samples -= len(message.samples) // messages.PCM_BYTES
        return message

    def clear(self) -> None:
        self._queue.clear()
        self.queued_samples = 0

    def _take_back(self, session: str) -> None:
        """Audio and flushes that nobody wants any more need not travel."""
        kept = [m for m in self._queue if not (isinstance(m, messages.Audio | messages.Flush) and m.session == session)]
        self.clear()
        for message in kept:
            self._queue.append(message)
            if isinstance(message, messages.Audio):
                self.queued_samples += len(message.samples) // messages.PCM_BYTES


class Lanes:
    """All lanes: whose turn it is, and which connection a session of the engine belongs to."""

    def __init__(self) -> None:
        self._busy: deque[Lane] = deque()
        self._owners: dict[str, Lane] = {}

    def put(self, lane: Lane, message: messages.Down) -> None:
        if isinstance(message, messages.Open):
            self._owners[message.session] = lane
        if not len(lane):
            self._busy.append(lane)
        lane.put(message)

    def pop(self) -> messages.Down | None:
        """The next message for the pipe, one of each busy lane after the other."""
        if not self._busy:
            return None
        lane = self._busy.popleft()
        message = lane.pop()
        if len(lane):
            self._busy.append(lane)
        return message

    def owner(self, message: messages.Up) -> EngineListener | None:
        """Whom a message of the engine is for; forgets a session with its last message."""
        session = getattr(message, "session", None)
        if session is None:
            return None
        ends = isinstance(message, messages.Closed | messages.Refused)
        lane = self._owners.pop(session, None) if ends else self._owners.get(session)
        return None if lane is None else lane.listener

    def clear(self) -> None:
        """The engine is gone, and with it all that was meant for it."""
        for lane in self._busy:
            lane.clear()
        self._busy.clear()
        self._owners.clear()
