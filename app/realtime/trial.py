"""Tries a server through a connection of its own and tells what is there or what is wrong. Runs on the event loop.

Nothing that is in use is touched. The connection is made as the real client makes it; after a fault further questions
tell causes apart. What the answers mean is ``finding``'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import statistics
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, WebSocketException

from sayso.app.errors import AppError
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.finding import Greeting, SecondLook, diagnose, unknown_model, works
from sayso.app.realtime.questions import ask, engine_model_in, models_in, version_in
from sayso.app.realtime.wire import Created, decode, encode
from sayso.app.remote_server_view import Finding
from sayso.server.protocol.events import EngineState, Error, SaysoOptions, SessionUpdate, SessionUpdated

LIMIT_S = 30.0
"""No trial takes longer."""
_OPEN_S = 6.0
_ANSWER_S = 6.0
_OBJECTION_S = 1.0
"""How long a server that confirms nothing may take to object to a model."""
_LOOK_S = 3.0
_PINGS = 3
_LARGEST_FRAME = 1024 * 1024
_OWN_MODEL = "auto"
"""How a Sayso server's own model is called, whichever it is."""

_Event = TypeVar("_Event", Created, SessionUpdated, EngineState)


async def try_server(endpoint: Endpoint) -> Finding:
    """What is found at the endpoint, in at most ``LIMIT_S``; faults are findings too."""
    try:
        async with asyncio.timeout(LIMIT_S):
            try:
                return await _greet(endpoint)
            except (OSError, EOFError, WebSocketException, AppError) as error:
                return diagnose(error, endpoint, await _look_again(error, endpoint))
    except TimeoutError as error:
        return diagnose(error, endpoint, SecondLook(accepts=True))


async def _greet(endpoint: Endpoint) -> Finding:
    async with connect(
        endpoint.url,
        additional_headers=endpoint.headers,
        proxy=None if endpoint.is_loopback else True,
        compression=None,
        open_timeout=_OPEN_S,
        close_timeout=0.5,
        max_size=_LARGEST_FRAME,
    ) as socket:
        created = await _next(socket, Created)
        is_sayso = created.server == "sayso"
        models = models_in(await asyncio.to_thread(ask, endpoint, endpoint.models_url))
        version = version_in(await asyncio.to_thread(ask, endpoint, endpoint.version_url))
        if is_sayso:
            greeting = await _sayso(socket, endpoint, version, models)
        else:
            greeting = await _other(socket, endpoint, version, models)
        return greeting if isinstance(greeting, Finding) else works(greeting)


async def _sayso(
    socket: ClientConnection, endpoint: Endpoint, version: str, models: tuple[str, ...]
) -> Greeting | Finding:
    update = SessionUpdate(model=endpoint.model or _OWN_MODEL, sayso=SaysoOptions(("engine",)))
    await socket.send(encode(update))
    try:
        session = await _next(socket, SessionUpdated)
        engine = await _next(socket, EngineState)
    except RealtimeError as error:
        if error.code == "model_not_found":
            return unknown_model(endpoint, models)
        raise
    # A session names the model as it asked for it; the engine says which one that is.
    model = engine_model_in(await asyncio.to_thread(ask, endpoint, endpoint.health_url)) or session.model
    latency = await _round_trip_ms(socket)
    return Greeting(True, version, model, models, engine.state, engine.detail, latency)


async def _other(
    socket: ClientConnection, endpoint: Endpoint, version: str, models: tuple[str, ...]
) -> Greeting | Finding:
    model = endpoint.model or next(iter(models), "")
    if models and model not in models:
        return unknown_model(endpoint, models)
    await socket.send(encode(SessionUpdate(model=model)))
    # It does not confirm what it accepts, so only an objection is waited for.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_OBJECTION_S):
            await _next(socket, SessionUpdated)
    return Greeting(False, version, model, models, round_trip_ms=await _round_trip_ms(socket))


async def _next(socket: ClientConnection, kind: type[_Event]) -> _Event:
    """The next event of this kind; an error of the server is raised, other events are passed over."""
    async with asyncio.timeout(_ANSWER_S):
        while True:
            event = decode(await socket.recv())
            if isinstance(event, kind):
                return event
            if isinstance(event, Error):
                raise RealtimeError(event.code or "rejected", event.error or "The server refuses without a reason.")
            if kind is Created:
                raise RealtimeError("not_realtime", "What answers is a WebSocket of another kind.")


async def _round_trip_ms(socket: ClientConnection) -> float:
    async with asyncio.timeout(_ANSWER_S):
        return 1000 * statistics.median([await (await socket.ping()) for _ in range(_PINGS)])


async def _look_again(error: Exception, endpoint: Endpoint) -> SecondLook:
    """Ask what tells the causes of this fault apart."""
    parts, secure = urlsplit(endpoint.url), endpoint.url.startswith("wss:")
    match error:
        case InvalidStatus() if error.response.status_code == 400 and not secure:
            return SecondLook(speaks_tls=await _speaks_tls(parts))
        case InvalidStatus():
            return SecondLook(models_status=(await asyncio.to_thread(ask, endpoint, endpoint.models_url)).status)
        case ssl.SSLCertVerificationError():
            return SecondLook()
        case TimeoutError():
            return SecondLook(accepts=await _accepts(parts), speaks_http=secure and await _speaks_http(parts))
        case ssl.SSLError() | EOFError() | ConnectionResetError() if secure:
            return SecondLook(speaks_http=await _speaks_http(parts))
        case InvalidHandshake() | EOFError() | ConnectionResetError():
            return SecondLook(speaks_tls=await _speaks_tls(parts))
        case _:
            return SecondLook()


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "wss" else 80)


async def _accepts(parts: SplitResult) -> bool:
    """Whether a program takes connections there."""
    try:
        async with asyncio.timeout(_LOOK_S):
            _, writer = await asyncio.open_connection(parts.hostname, _port(parts))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_tls(parts: SplitResult) -> bool:
    """Whether a TLS handshake succeeds there, whatever the certificate; nothing is sent over it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(_LOOK_S):
            _, writer = await asyncio.open_connection(parts.hostname, _port(parts), ssl=context)
    except (OSError, EOFError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_http(parts: SplitResult) -> bool:
    """Whether what listens there answers HTTP without TLS; no key is sent."""
    try:
        async with asyncio.timeout(_LOOK_S):
            reader, writer = await asyncio.open_connection(parts.hostname, _port(parts))
            try:
                writer.write(f"HEAD / HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
                return (await reader.read(5)).startswith(b"HTTP")
            finally:
                writer.close()
    except (OSError, EOFError, TimeoutError):
        return False
