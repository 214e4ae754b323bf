"""The connection to one realtime server after another: connect, send what the uplink says, reconnect, switch.

Runs on the event loop, Qt's or asyncio's own. All decisions about audio and text are the uplink's; what is decided here
is when to connect, and what a failed connection means. Nothing of an old connection can arrive late: its receiver ends
with it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import NoReturn

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from sayso.app.errors import AppError, report_failure
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.realtime.engine_news import ANY_MODEL, told_by_engine
from sayso.app.realtime.errors import ROTATED, RealtimeError
from sayso.app.realtime.events import Behind, Connection, RealtimeEvent
from sayso.app.realtime.proof import Proof
from sayso.app.realtime.questions import first_model
from sayso.app.realtime.rest import RESTED, Rest
from sayso.app.realtime.resumption import Resumption
from sayso.app.realtime.second_look import explained
from sayso.app.realtime.together import until_one_fails
from sayso.app.realtime.uplink import Hold, Reconnect, Uplink, UplinkEvent
from sayso.app.realtime.wire import Created, decode, encode
from sayso.app.snapshot import ServerState
from sayso.server.protocol.events import (
    EngineState,
    Error,
    Resumable,
    Resumed,
    SaysoEvent,
    SaysoOptions,
    SessionUpdate,
    SessionUpdated,
)

EndpointSource = Callable[[], Awaitable[Endpoint]]
"""Gives the endpoint for each attempt: a local server that was restarted has another port and key."""

_OPEN_TIMEOUT_S = 8.0
_CREATED_TIMEOUT_S = 8.0
_CLOSE_TIMEOUT_S = 0.5
_PING_S = 20.0
_RETRIES_S = (0.25, 0.5, 1.0, 2.0, 4.0)
_LASTING_RETRY_S = 15.0
"""After a fault that only people can mend."""
_STALL_S = 60.0
"""A server that has all audio and tells nothing for so long will not tell anything."""
_EVENTS: tuple[SaysoEvent, ...] = ("partial", "words", "marker", "engine")
_LASTING_CODES = ("model_not_found", "unauthorised", "model_not_validated")
_CLOSED = "The connection is closed to free memory; it opens again when you speak."
_PLAIN_SERVER = "Words appear only once they are final: this is no Sayso server and tells no tentative ones."
_BEHIND_MS = 1000
_BEHIND_STEP_MS = 500
_LARGEST_FRAME = 4 * 1024 * 1024


class RealtimeClient:
    """Turns of speech in, their text out, over whatever connection there is; ``on_event`` is called on the loop."""

    def __init__(
        self,
        endpoint: Endpoint | EndpointSource,
        on_event: Callable[[RealtimeEvent], None],
        bias: Iterable[str] = (),
        uplink: Uplink | None = None,
    ) -> None:
        """``bias`` are words the user is likely to say; only Sayso servers get them."""
        self._source = endpoint
        self._on_event = on_event
        self._wishes = SaysoOptions(_EVENTS, tuple(bias), resumable=True)
        self._uplink = uplink or Uplink()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._state = Connection(ServerState.CONNECTING)
        self._model = ""
        self._session: SessionUpdate | None = None
        self._was_ready = False
        self._least_delay_s = 0.0
        self._heard_at, self._behind = 0.0, 0
        self._resumption: asyncio.TimerHandle | None = None
        self._created: Created | None = None
        self._endpoint: Endpoint | None = None
        # An engine that is being started is wanted by somebody, and that takes as long as it takes.
        self._session_kept = Resumption()
        self._proof = Proof()
        self._rest = Rest(lambda: self._uplink.is_idle and self._state.state is not ServerState.LOADING)

    @property
    def proof(self) -> Proof:
        """Asked by whoever has reason to doubt that the connection lives."""
        return self._proof

    @property
    def rest(self) -> Rest:
        """When the connection is closed because nobody speaks; the next speech opens it again."""
        return self._rest

    @property
    def is_resting(self) -> bool:
        """Whether the connection is closed until somebody speaks."""
        return self._state.state is ServerState.RESTING and self._state.code in RESTED and self._rest.quiet

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the newest connection went to."""
        return self._endpoint

    @property
    def session_id(self) -> str:
        """How the server calls this connection; empty without one."""
        return self._created.id if self._created is not None else ""

    @property
    def is_sayso(self) -> bool | None:
        """Whether the server is one of ours; None before it has told."""
        return self._created.server == "sayso" if self._created is not None else None

    @property
    def connection(self) -> Connection:
        """The last state that was told."""
        return self._state

    def start(self) -> None:
        """Connect, and stay connected until ``close``."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="realtime client")
            self._task.add_done_callback(report_failure)

    def begin(self) -> int:
        """Begin a turn; its number. Works without a connection: audio is kept until there is one."""
        self._idle.clear()
        turn = self._uplink.begin()
        self._rest.disturb()
        return turn

    def append(self, turn: int, samples: NDArray[np.float32]) -> None:
        """Audio of the turn: float32 mono, 16 kHz."""
        pcm = np.rint(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
        self._pass_on(self._uplink.append(turn, pcm))

    def end(self, turn: int) -> None:
        """The turn's audio is complete; ``TurnDone`` follows."""
        self._pass_on(self._uplink.end(turn))

    def cancel(self, turn: int) -> None:
        """Forget the turn; nothing more is told of it."""
        self._pass_on(self._uplink.cancel(turn))

    def expect_words(self, bias: Iterable[str]) -> None:
        """Words the user is likely to say, from the next turn on."""
        self._wish(replace(self._wishes, bias=tuple(bias)))

    def weigh_texts(self, on: bool, expected: Iterable[str] = ()) -> None:
        """Whether to be told at its end what else a short turn may have been, such as one of ``expected``."""
        events = (*_EVENTS, "alternatives") if on else _EVENTS
        self._wish(replace(self._wishes, events=events, expected=tuple(expected)))

    def _wish(self, wishes: SaysoOptions) -> None:
        self._wishes = wishes
        self._wake.set()

    async def switch(self, endpoint: Endpoint | EndpointSource) -> None:
        """Use another server from now on, in mid-turn too: what the old one has not confirmed goes to the new one."""
        await self._stop()
        self._source, self._endpoint, self._created = endpoint, None, None
        self.start()

    async def finished(self, timeout_s: float) -> bool:
        """Wait until every turn has its text; False when the time is up before."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return self._uplink.is_idle
        return True

    async def close(self) -> None:
        """Disconnect. Turns stay kept; ``start`` connects again."""
        await self._stop()

    async def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._lost()

    async def _run(self) -> None:
        attempt = 0
        while True:
            endpoint, self._was_ready, self._least_delay_s = None, False, 0.0
            try:
                self._endpoint = endpoint = await self._resolve()
                await self._converse(endpoint)
            except (OSError, EOFError, WebSocketException, AppError) as error:
                fault = await explained(error, endpoint)
                # What we have decided to give up, or cannot reach at all in this way, is not taken up again.
                self._lost(kept=not isinstance(error, AppError) and not fault.lasting)
            if fault.code in RESTED and self._rest.quiet:
                self._tell(Connection(ServerState.RESTING, endpoint.url if endpoint else "", "", _CLOSED, fault.code))
                await self._rest.over()
                continue
            if fault.code == "rested" or (fault.code == ROTATED and self._was_ready):
                # Somebody has begun to speak while the connection was being closed; or it was closed in order.
                continue
            attempt = 0 if self._was_ready else attempt
            delay = _LASTING_RETRY_S if fault.lasting else _RETRIES_S[min(attempt, len(_RETRIES_S) - 1)]
            attempt += 1
            state = ServerState.REFUSED if fault.lasting else ServerState.LOST
            self._tell(Connection(state, endpoint.url if endpoint else "", "", str(fault), fault.code))
            await asyncio.sleep(max(delay, self._least_delay_s))

    async def _resolve(self) -> Endpoint:
        if isinstance(self._source, Endpoint):
            return self._source
        self._tell(Connection(ServerState.STARTING))
        return await self._source()

    async def _converse(self, endpoint: Endpoint) -> NoReturn:
        """One connection, from its opening to its loss, which is an exception."""
        if self._state.state not in (ServerState.LOST, ServerState.REFUSED):
            self._tell(Connection(ServerState.CONNECTING, endpoint.url))
        async with connect(
            endpoint.url,
            additional_headers=endpoint.headers,
            proxy=None if endpoint.is_loopback else True,
            compression=None,
            open_timeout=_OPEN_TIMEOUT_S,
            close_timeout=_CLOSE_TIMEOUT_S,
            ping_interval=_PING_S,
            ping_timeout=_PING_S,
            max_size=_LARGEST_FRAME,
        ) as socket:
            await self._open_session(socket, endpoint)
            self._heard_at = asyncio.get_running_loop().time()
            tasks = (self._receive(socket, endpoint), self._send(socket), self._watch(), self._rest.due())
            try:
                await until_one_fails(*tasks, self._proof.given(socket))
            except (AppError, asyncio.CancelledError):
                # We give this session up; without this word the server would keep it for our return.
                await socket.close()
                raise
        raise RealtimeError("closed", "The server closed the connection.")

    async def _open_session(self, socket: ClientConnection, endpoint: Endpoint) -> None:
        async with asyncio.timeout(_CREATED_TIMEOUT_S):
            created = decode(await socket.recv())
        if isinstance(created, Error):
            raise _refusal(created.code or "rejected", created.error)
        if not isinstance(created, Created):
            raise RealtimeError("not_realtime", "The server does not speak the realtime transcription protocol.", True)
        self._created = created
        sayso = created.server == "sayso"
        model = endpoint.model or (ANY_MODEL if sayso else await asyncio.to_thread(first_model, endpoint))
        self._session = SessionUpdate(model=model, sayso=self._wishes if sayso else None)
        if not await self._taken_up(socket, endpoint, self._session):
            self._session_kept.forget()
            self._pass_on(self._uplink.disconnected())
            await socket.send(encode(self._session))
            self._uplink.connected(sayso)
        if not sayso:
            self._was_ready = True
            self._tell(Connection(ServerState.READY, endpoint.url, model, _PLAIN_SERVER))

    async def _taken_up(self, socket: ClientConnection, endpoint: Endpoint, session: SessionUpdate) -> bool:
        """Whether this connection goes on with the session of the one before."""
        ticket = self._session_kept.ticket(endpoint.url)
        if ticket is None or session.sayso is None:
            return False
        await socket.send(encode(replace(session, sayso=replace(session.sayso, **ticket.wish))))
        async with asyncio.timeout(_CREATED_TIMEOUT_S):
            answer = decode(await socket.recv())
        if not isinstance(answer, Resumed):
            return False
        assert self._created is not None
        self._created = replace(self._created, id=answer.id)
        events = self._uplink.taken_up(answer.received)
        if events is None:
            raise RealtimeError("resume_failed", "The server has mixed up the session; connecting to it anew.")
        self._pass_on(events)
        return True

    async def _receive(self, socket: ClientConnection, endpoint: Endpoint) -> None:
        async for frame in socket:
            self._session_kept.heard()
            event = decode(frame)
            if event is None:
                continue
            self._heard_at = asyncio.get_running_loop().time()
            match event:
                case SessionUpdated(model=model):
                    # The state of its engine follows, and only that says whether it is ready.
                    self._model = model
                case EngineState():
                    self._was_ready = True
                    self._tell(told_by_engine(event, endpoint.url, self._model))
                case Resumable():
                    self._session_kept.offered(endpoint.url, event)
            self._pass_on(self._uplink.received(event))

    async def _send(self, socket: ClientConnection) -> None:
        while True:
            if (news := self._expectations() or self._session_kept.next_message()) is not None:
                await socket.send(encode(news))
                continue
            message = self._uplink.next_message()
            if message is None:
                self._wake.clear()
                await self._wake.wait()
            else:
                await socket.send(encode(message))
                self._tell_behind()

    def _expectations(self) -> SessionUpdate | None:
        """An update for a server of ours that was told other wishes."""
        session = self._session
        if session is None or session.sayso is None or session.sayso == self._wishes:
            return None
        self._session = replace(session, sayso=self._wishes)
        return self._session

    async def _watch(self) -> None:
        """Give up a server that is connected and owes a turn's end, and tells nothing."""
        while True:
            await asyncio.sleep(_STALL_S / 12)
            silent = asyncio.get_running_loop().time() - self._heard_at
            if self._uplink.awaits_done and silent > _STALL_S:
                raise RealtimeError("stalled", "The server does not answer any more; connecting to it anew.")

    def _lost(self, *, kept: bool = False) -> None:
        """``kept``: the server may keep the session for the next connection."""
        self._cancel_resumption()
        self._model = ""
        if self._created is not None:
            self._created = replace(self._created, id="")
        if kept and self._session_kept.is_possible:
            self._uplink.suspended()
        else:
            self._session_kept.forget()
            self._pass_on(self._uplink.disconnected())

    def _pass_on(self, events: list[UplinkEvent]) -> None:
        reconnect: Reconnect | None = None
        for event in events:
            match event:
                case Reconnect():
                    reconnect = event
                case Hold(delay_s):
                    self._cancel_resumption()
                    self._resumption = asyncio.get_running_loop().call_later(delay_s, self._resume)
                case _:
                    self._on_event(event)
        self._wake.set()
        self._tell_behind()
        if self._uplink.is_idle and not self._idle.is_set():
            self._idle.set()
            self._rest.settle()
        if reconnect is not None:
            self._least_delay_s = reconnect.delay_s
            raise _refusal(reconnect.code, reconnect.message)

    def _resume(self) -> None:
        self._uplink.resume()
        self._wake.set()

    def _cancel_resumption(self) -> None:
        if self._resumption is not None:
            self._resumption.cancel()
            self._resumption = None

    def _tell(self, connection: Connection) -> None:
        if connection != self._state:
            if self._state.state is ServerState.LOADING:
                self._rest.settle()
            self._state = connection
            self._on_event(connection)

    def _tell_behind(self) -> None:
        behind = self._uplink.backlog_ms
        behind = behind if behind > _BEHIND_MS else 0
        if (behind == 0) != (self._behind == 0) or abs(behind - self._behind) >= _BEHIND_STEP_MS:
            self._behind = behind
            self._on_event(Behind(behind))


def _refusal(code: str, message: str) -> RealtimeError:
    return RealtimeError(code, message or "The server reported a failure without a reason.", code in _LASTING_CODES)
