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
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from sayso.server.engine_client import EngineClient
from sayso.server.limits import RunningLimits
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.vllm import VllmDialect
from sayso.server.protocol.events import Error
from sayso.server.protocol.intents import Choose
from sayso.server.protocol.resumption import session_of
from sayso.server.session import TRY_AGAIN_LATER, Session, SessionFacts
from sayso.server.turn_limits import Limits

logger = logging.getLogger(__name__)

SERVICE_RESTART = 1012
REPLACED = 4001
"""Our own code: another connection has taken the session over."""
DELIBERATE = (1000, 1001)
"""Close codes of a client that will not come back."""
DRAIN_S = 2.0
"""How long a shutdown waits for the last text of turns that have ended, and again for closing handshakes."""


class Line:
    """One WebSocket, and the session that it carries; that may become another one, which had lost its connection."""

    session: Session

    def __init__(self, name: str, outbox: Outbox, owner: bytes) -> None:
        """``owner``: what the client showed as its key."""
        self.name = name
        self.outbox = outbox
        self.owner = owner
        self.left = False
        """Whether the client has closed it in order."""
        self.cut = False
        """Whether its session goes on elsewhere: nothing more that comes here counts."""


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
        self._lines: dict[Session, Line | None] = {}
        """Every session and its connection; None while that is lost. Those lost are in the order of their loss."""
        self._closing = False

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def facts(self) -> list[SessionFacts]:
        """Of all connections, oldest first."""
        return sorted((session.facts for session in self._lines), key=lambda facts: -facts.age_s)

    def regulate(self, limits: Limits, running: RunningLimits) -> None:
        """Other limits, at once, for the connections of now and those that follow."""
        self._limits, self._running = limits, running
        for session in self._lines:
            session.regulate(limits)
        for session in self._lost_sessions:
            self._wait_for(session)

    def find(self, name: str) -> Session | None:
        """The session of this name."""
        return next((session for session in self._lines if session.name == name), None)

    def end(self, name: str) -> bool:
        """Close one connection in order; false when there is none of this name."""
        found = self.find(name)
        if found is not None:
            found.end("session_closed", "The keeper of this server has closed the session: connect again to go on.")
            if self._lines[found] is None and found.ended:
                del self._lines[found]
        return found is not None

    async def serve(self, websocket: WebSocket) -> None:
        """One connection from its handshake to its end."""
        if self._closing:
            await _deny(websocket)
            return
        await websocket.accept()
        if sum(line is not None for line in self._lines.values()) >= self._running.most_connections:
            await self._turn_away(websocket)
            return
        line = self._new_line(websocket)
        receiver = asyncio.create_task(self._receive(websocket, line), name=f"receiver {line.name}")
        closer = asyncio.create_task(_send_and_close(websocket, line.outbox), name=f"sender {line.name}")
        try:
            line.session.greet()
            await asyncio.wait([receiver, closer], return_when=asyncio.FIRST_COMPLETED)
            if receiver.done() and (fault := receiver.exception()) is not None:
                # The border of one connection: its fault must not touch the others.
                logger.error("session %s: fault in the server", line.session.name, exc_info=fault)
                line.session.break_off()
            if line.outbox.close_code is not None:
                await asyncio.wait([receiver, closer], timeout=DRAIN_S)
        finally:
            self._lost(line)
            for task in (receiver, closer):
                task.cancel()
            await asyncio.gather(receiver, closer, return_exceptions=True)

    def _new_line(self, websocket: WebSocket) -> Line:
        name = f"sess-{uuid.uuid4().hex}"
        owner = websocket.headers.get("authorization", "").encode("latin-1")
        line = Line(name, Outbox(self._running.unread_bytes), owner)
        rejoin = partial(self._rejoin, line)
        line.session = Session(
            name, VllmDialect(name), self._engine, line.outbox, self._limits, rejoin, owner, self._clock
        )
        self._lines[line.session] = line
        return line

    async def _receive(self, websocket: WebSocket, line: Line) -> None:
        """Until the client has gone; between its messages the session's limits are kept."""
        while not line.cut:
            message = await _next_message(websocket, line.session)
            if message is None or line.cut:
                continue
            if message["type"] == "websocket.disconnect":
                line.left = message.get("code") in DELIBERATE
                return
            text = message.get("text")
            if text is None:
                line.session.binary_frame()
            else:
                line.session.text_frame(text)
            self._make_room()

    # Connections that are lost, and sessions that are taken up again.

    def _lost(self, line: Line) -> None:
        """A connection is over: its session ends, or waits for its client."""
        session = line.session
        if self._lines.get(session) is not line:
            return
        del self._lines[session]
        if line.left or self._closing or line.outbox.close_code is not None or not session.detach():
            session.leave()
            return
        logger.info("session %s: its connection is lost", session.name)
        self._lines[session] = None
        self._wait_for(session)

    def _wait_for(self, session: Session) -> None:
        """Give the client of a lost connection its time, counted from the loss."""
        loop = asyncio.get_running_loop()
        if session.expiry is not None:
            session.expiry.cancel()
        else:
            session.lost_s = loop.time()
        session.expiry = loop.call_at(session.lost_s + self._running.resume_s, self._expire, session)

    def _expire(self, session: Session) -> None:
        """Nobody came back for a session, or its place is needed."""
        if session in self._lines and self._lines[session] is None:
            logger.info("session %s: nobody came back for it", session.name)
            del self._lines[session]
            if session.expiry is not None:
                session.expiry.cancel()
            session.leave()

    def _make_room(self) -> None:
        """Sessions without a connection are the first to go, the longest lost before the others."""
        excess = len(self._lines) - self._running.most_connections
        for session in self._lost_sessions[: max(0, excess)]:
            self._expire(session)

    @property
    def _lost_sessions(self) -> list[Session]:
        """Longest lost first."""
        return [session for session, line in self._lines.items() if line is None]

    def _rejoin(self, line: Line, choice: Choose) -> bool:
        """Let the session that a client names go on over this line, if it may; the line's own ends then."""
        assert choice.sayso is not None
        session = self.find(session_of(choice.sayso.resume))
        if session is None or session is line.session:
            return False
        before = self._lines[session]
        if not session.attach(line.outbox, choice, line.owner):
            return False
        if before is not None:
            # We did not know yet that it is lost: what may still come over it was sent again.
            before.cut = True
            before.outbox.close(REPLACED)
        if session.expiry is not None:
            session.expiry.cancel()
            session.expiry = None
        own, line.session = line.session, session
        del self._lines[own], self._lines[session]
        self._lines[session] = line
        own.leave()
        self._engine.tally.resumes += 1
        logger.info("session %s: goes on over another connection", session.name)
        return True

    async def close(self) -> None:
        """Give every turn its last word and close; takes no longer than twice ``DRAIN_S``."""
        self._closing = True
        for session in self._lost_sessions:
            self._expire(session)
        await self._wait(lambda: not any(session.draining for session in self._lines))
        for session in list(self._lines):
            session.shut_down(SERVICE_RESTART)
        await self._wait(lambda: not self._lines)

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


async def _next_message(websocket: WebSocket, session: Session) -> Message | None:
    """The next message, or None when the session's limits are to be looked at first."""
    wait_s = session.keep_limits()
    try:
        async with asyncio.timeout(wait_s) as wait:
            session.limits_changed = end = partial(_end, wait)
            try:
                return await websocket.receive()
            finally:
                if session.limits_changed is end:
                    session.limits_changed = None
    except TimeoutError:
        return None


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
