"""Runs the server from its socket to its end: port, engine, uvicorn, signals. One event loop, in the main thread.

The order matters for start-up: the port is taken (and a taken one reported) first, then the engine is spawned, and
while it loads the web framework is imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sayso.server.config import MAX_FRAME_BYTES, ServerConfig
from sayso.server.engine_client import EngineClient
from sayso.server.engine_rules import idle_settings, retention
from sayso.server.engine_settings import EngineSettings
from sayso.server.errors import ServerError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from sayso.server.transport import Connections

GRACEFUL_S = 3
PING_EVERY_S = 20.0
PING_TIMEOUT_S = 60.0
_TICK_S = 1.0


async def run(
    config: ServerConfig,
    announce: Callable[[str], None],
    *,
    once_ready: bool,
    stop: asyncio.Event | None = None,
    settings: EngineSettings | None = None,
) -> None:
    """Serve until a signal comes or ``stop`` is set; raises ``ServerError`` when it cannot begin.

    ``announce`` gets the WebSocket URL: as soon as the socket listens, or, with ``once_ready``, only when the engine
    can transcribe; then an engine that cannot load ends the server with its error.
    """
    config.check()
    stop = stop or asyncio.Event()
    with bound_socket(config.host, config.port) as sock, _signals(stop):
        engine = EngineClient(settings or engine_settings(config))
        try:
            await engine.start()
            ending = asyncio.Event()
            server, connections = _web_server(config, engine, ending)
            serving = asyncio.create_task(server.serve([sock]), name="web server")
            try:
                await _until_stopped(config, sock, announce, engine if once_ready else None, stop, serving)
            finally:
                await connections.close()
                ending.set()
                await serving
        finally:
            await engine.stop()


def engine_settings(config: ServerConfig) -> EngineSettings:
    """What the configuration says of the engine."""
    return EngineSettings(
        config.model,
        config.device,
        config.threads,
        config.precision,
        idle=idle_settings(config),
        retention=retention(config),
    )


async def _until_stopped(
    config: ServerConfig,
    sock: socket.socket,
    announce: Callable[[str], None],
    awaited: EngineClient | None,
    stop: asyncio.Event,
    serving: asyncio.Task[None],
) -> None:
    stopping = asyncio.create_task(stop.wait(), name="stop")
    ready = asyncio.create_task(awaited.wait_ready() if awaited else _nothing(), name="ready")
    try:
        await asyncio.wait([stopping, ready, serving], return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            ready.result()
            announce(url_of(config.host, sock))
            await asyncio.wait([stopping, serving], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (stopping, ready):
            task.cancel()
        await asyncio.gather(stopping, ready, return_exceptions=True)


async def _nothing() -> None:
    """There is nothing to wait for."""


def _web_server(
    config: ServerConfig, engine: EngineClient, ending: asyncio.Event
) -> tuple[uvicorn.Server, Connections]:
    import uvicorn

    from sayso.server.app import create_app

    class WebServer(uvicorn.Server):
        """uvicorn without its own signal handlers: ours end the engine and the sessions too."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def main_loop(self) -> None:
            """Until ``ending``; uvicorn's own looks ten times a second, most of what an idle server takes."""
            clock = asyncio.get_running_loop().time
            while not ending.is_set():
                # Its clock of answers is set at every tenth tick.
                await self.on_tick(0)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_TICK_S - clock() % _TICK_S):
                        await ending.wait()
            self.should_exit = True

    app, connections = create_app(config, engine)
    return WebServer(_web_settings(app)), connections


def _web_settings(app: ASGIApp) -> uvicorn.Config:
    import uvicorn

    return uvicorn.Config(
        app,
        http="h11",
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_EVERY_S,
        ws_ping_timeout=PING_TIMEOUT_S,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACEFUL_S,
    )


def bound_socket(host: str, port: int) -> socket.socket:
    """A bound, not yet listening socket; raises ``ServerError`` ``port_taken``, ``port_forbidden`` or ``bad_host``."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise ServerError("bad_host", f"The host {host} is not known ({error.strerror}).") from error
    sock = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        # Two sockets may be bound to one port under SO_REUSEADDR; only one of them may listen.
        sock.listen(0)
    except OSError as error:
        sock.close()
        raise _bind_error(host, port, error) from error
    return sock


def _bind_error(host: str, port: int, error: OSError) -> ServerError:
    if error.errno == errno.EADDRINUSE:
        return ServerError("port_taken", f"Port {port} of {host} is taken by another program: choose another --port.")
    if error.errno == errno.EACCES:
        return ServerError("port_forbidden", f"Port {port} needs more rights: choose a --port above 1023.")
    return ServerError("bad_host", f"The server cannot listen on {host} port {port} ({error.strerror}).")


def url_of(host: str, sock: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"ws://{shown}:{sock.getsockname()[1]}/v1/realtime"


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGTERM and SIGINT end the server in order; where the loop cannot take signals, Python's own handling stays."""
    loop = asyncio.get_running_loop()
    taken = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop.set)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
