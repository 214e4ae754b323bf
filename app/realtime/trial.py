"""Tries a server through a connection of its own and tells what is there or what is wrong. Runs on the event loop.

Nothing that is in use is touched. The connection is made as the real client makes it; after a fault further questions
tell causes apart. What the answers mean is ``finding``'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
from typing import TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from sayso.app.errors import AppError
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.realtime.engine_news import ANY_MODEL
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.finding import Greeting, SecondLook, diagnose, unknown_model, works
from sayso.app.realtime.questions import ask, engine_model_in, models_in, version_in
from sayso.app.realtime.second_look import look_again
from sayso.app.realtime.wire import Created, decode, encode
from sayso.app.remote_server_view import Finding
from sayso.server.protocol.events import EngineState, Error, SaysoOptions, SessionUpdate, SessionUpdated

LIMIT_S = 30.0
"""No trial takes longer."""
_OPEN_S = 6.0
_ANSWER_S = 6.0
_OBJECTION_S = 1.0
"""How long a server that confirms nothing may take to object to a model."""
_PINGS = 3
_LARGEST_FRAME = 1024 * 1024

_Event = TypeVar("_Event", Created, SessionUpdated, EngineState)


async def try_server(endpoint: Endpoint) -> Finding:
    """What is found at the endpoint, in at most ``LIMIT_S``; faults are findings too."""
    try:
        async with asyncio.timeout(LIMIT_S):
            try:
                return await _greet(endpoint)
            except (OSError, EOFError, WebSocketException, AppError) as error:
                return diagnose(error, endpoint, await look_again(error, endpoint))
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
    update = SessionUpdate(model=endpoint.model or ANY_MODEL, sayso=SaysoOptions(("engine",)))
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
