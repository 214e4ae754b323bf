"""What a client of the desktop tells its owner, kept for a test."""

from __future__ import annotations

import asyncio

from sayso.app.realtime.events import Connection, RealtimeEvent
from sayso.app.snapshot import ServerState


class ToldEvents:
    """All events in order; ``ready`` is set when a server is ready for the first time."""

    def __init__(self) -> None:
        self.events: list[RealtimeEvent] = []
        self.ready = asyncio.Event()

    def __call__(self, event: RealtimeEvent) -> None:
        self.events.append(event)
        if isinstance(event, Connection) and event.state is ServerState.READY:
            self.ready.set()
