"""``/v1/realtime`` as a WebSocket: one task receives and never waits for the engine, one task sends.

uvicorn reads no further, pings included, until a message is taken; so each message is handed to the session at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable
from functools import partial

import msgspec
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from sayso.server.engine_client import EngineClient
from sayso.server.limits import RunningLimits
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.vllm import VllmDialect
from sayso.server.protocol.events import Error
from sayso.server.session import TRY_AGAIN_LATER, Session, SessionFacts
from sayso.server.turns import Limits

logger = logging.getLogger(__name__)

SERVICE_RESTART = 1012
DRAIN_S = 2.0
"""How long a shutdown waits for the last text of turns that have ended, and again for closing handshakes."""


class Connections:
    """All open connections: their number is bounded, and a shutdown ends them in order."""

    def __init__(
        self,
        engine: EngineClient,
        limits: Limits,
        running: RunningLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._limits = limits
        self._running = running
        self._clock = clock
        self._sessions: set[Session] = set()
        self._closing = False

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def facts(self) -> list[SessionFacts]:
        """Of all connections, oldest first."""
        return sorted((session.facts for session in self._sessions), key=lambda facts: -facts.age_s)

    def regulate(self, limits: Limits, running: RunningLimits) -> None:
        """Other limits, at once, for the connections of now and those that follow."""
        self._limits, self._running = limits, running
        for session in self._sessions:
            session.regulate(limits)

    def find(self, name: str) -> Session | None:
        """The session of this name."""
        return next((session for session in self._sessions if session.name == name), None)

    def end(self, name: str) -> bool:
        """Close one connection in order; false when there is none of this name."""
        found = self.find(name)
        if found is not None:
            found.end("session_closed", "The keeper of this server has closed the session: connect again to go on.")
        return found is not None

    async def serve(self, websocket: WebSocket) -> None:
        """One connection from its handshake to its end."""
        if self._closing:
            await _deny(websocket)
            return
        await websocket.accept()
        if len(self._sessions) >= self._running.most_connections:
            await self._turn_away(websocket)
            return
        name = f"sess-{uuid.uuid4().hex}"
        outbox = Outbox(self._running.unread_bytes)
        session = Session(name, VllmDialect(name), self._engine, outbox, self._limits, self._clock)
        self._sessions.add(session)
        receiver = asyncio.create_task(_receive(websocket, session), name=f"receiver {name}")
        closer = asyncio.create_task(_send_and_close(websocket, outbox), name=f"sender {name}")
        try:
            session.greet()
            await asyncio.wait([receiver, closer], return_when=asyncio.FIRST_COMPLETED)
            if receiver.done() and (fault := receiver.exception()) is not None:
                # The border of one connection: its fault must not touch the others.
                logger.error("session %s: fault in the server", name, exc_info=fault)
                session.break_off()
            if outbox.close_code is not None:
                await asyncio.wait([receiver, closer], timeout=DRAIN_S)
        finally:
            session.leave()
            for task in (receiver, closer):
                task.cancel()
            await asyncio.gather(receiver, closer, return_exceptions=True)
            self._sessions.discard(session)

    async def close(self) -> None:
        """Give every turn its last word and close; takes no longer than twice ``DRAIN_S``."""
        self._closing = True
        await self._wait(lambda: not any(session.draining for session in self._sessions))
        for session in list(self._sessions):
            session.shut_down(SERVICE_RESTART)
        await self._wait(lambda: not self._sessions)

    async def _wait(self, done: Callable[[], bool]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while True:
                    if done():
                        return
                    await asyncio.sleep(0.02)

    async def _turn_away(self, websocket: WebSocket) -> None:
        """As a close code, since web pages and many clients do not see the answer to a refused upgrade."""
        text = f"{self._running.most_connections} clients are connected already. Connect again later."
        with contextlib.suppress(WebSocketDisconnect):
            await websocket.send_text(msgspec.json.encode(Error(text, "session_limit")).decode())
            await websocket.close(TRY_AGAIN_LATER, "session_limit")


async def _deny(websocket: WebSocket) -> None:
    body = {"error": "The server is shutting down. Connect again later.", "code": "shutting_down"}
    await websocket.send_denial_response(JSONResponse(body, status_code=503))


async def _receive(websocket: WebSocket, session: Session) -> None:
    """Until the client has gone; between its messages the session's limits are kept."""
    while True:
        try:
            wait_s = session.keep_limits()
            async with asyncio.timeout(wait_s) as wait:
                session.limits_changed = partial(_end, wait)
                message = await websocket.receive()
        except TimeoutError:
            continue
        finally:
            session.limits_changed = None
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is None:
            session.binary_frame()
        else:
            session.text_frame(text)


def _end(wait: asyncio.Timeout) -> None:
    if not wait.expired():
        wait.reschedule(asyncio.get_running_loop().time())


async def _send_and_close(websocket: WebSocket, outbox: Outbox) -> None:
    """Send until the connection is to be closed, and close it; a client that does not read is not waited for long."""
    sender = asyncio.create_task(_send(websocket, outbox))
    try:
        await outbox.closing.wait()
        await asyncio.wait([sender], timeout=DRAIN_S)
    finally:
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)


async def _send(websocket: WebSocket, outbox: Outbox) -> None:
    """Empty the outbox, then close. A client that is gone is noticed by the receiving side."""
    with contextlib.suppress(WebSocketDisconnect):
        while (frame := await outbox.take()) is not None:
            await websocket.send_text(frame)
        await websocket.close(outbox.close_code or SERVICE_RESTART)
