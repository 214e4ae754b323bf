"""The server's side of the engine: one child, started again when it dies, shared by all connections.

Everything runs on the event loop and nothing in it waits for inference. Connections hear the engine's state as
``EngineNews``; anything but ``ready`` means that their engine sessions are gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sayso.engine import messages
from sayso.engine.framing import FramingError
from sayso.server.engine_process import EngineProcess, engine_command
from sayso.server.errors import EngineUnavailableError
from sayso.server.lanes import EngineListener, Lane, Lanes
from sayso.server.protocol.intents import EngineNews, EngineWord, Served
from sayso.server.restart import Ending, RestartPolicy
from sayso.server.watchdog import Watchdog

logger = logging.getLogger(__name__)

STOP_GRACE_S = 3.0
WATCH_EVERY_S = 0.25


class ConnectionListener(EngineListener, Protocol):
    """A connection: hears messages of its own sessions, and the engine's state."""

    def engine_news(self, news: EngineNews, served: Served) -> None: ...


@dataclass(frozen=True)
class EngineSettings:
    """What to start and with what; the rest has good defaults and is set by tests."""

    model: str = "auto"
    device: str = "auto"
    threads: int = 0
    precision: str = "auto"
    command: Sequence[str] = field(default_factory=engine_command)
    silence_s: float = 30.0
    load_s: float = 900.0


@dataclass(frozen=True)
class EngineStatus:
    """What ``/health`` tells; ``startup_ms`` is from the spawn to ``Ready`` of the newest start that got there."""

    news: EngineNews
    ready: messages.Ready | None = None
    startup_ms: int = 0
    restarts: int = 0
    pid: int = 0
    memory: messages.Memory | None = None
    metrics: messages.Metrics | None = None


class EngineClient:
    def __init__(self, settings: EngineSettings, policy: RestartPolicy | None = None) -> None:
        self._settings = settings
        self._policy = policy or RestartPolicy()
        self._lanes = Lanes()
        self._own_lane = Lane(None)
        self._listeners: dict[Lane, ConnectionListener] = {}
        self._news = EngineNews("starting")
        self._ready: messages.Ready | None = None
        self._spawned_s = 0.0
        self._ready_s = 0.0
        """When the child of now became ready, on the loop's clock; 0 before."""
        self._startup_ms = 0
        self._starts = 0
        self._memory: messages.Memory | None = None
        self._metrics: messages.Metrics | None = None
        self._process: EngineProcess | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._launched = asyncio.Event()
        self._changed = asyncio.Condition()
        self._outgoing = asyncio.Event()
        self._stopping = asyncio.Event()
        self._fault = ""

    # For the server.

    async def start(self) -> None:
        """Start the child and send it ``Load``; returns before it is ready."""
        self._supervisor = asyncio.create_task(self._supervise(), name="engine")
        await self._launched.wait()

    async def stop(self) -> None:
        """End the child, within ``STOP_GRACE_S`` and a kill; connections hear nothing more."""
        self._stopping.set()
        if self._process is not None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(self._process.send(messages.Stop()), STOP_GRACE_S / 3)
            await self._process.end(STOP_GRACE_S)
        if self._supervisor is not None:
            await self._supervisor

    async def wait_ready(self) -> messages.Ready:
        """Wait until the engine can transcribe; raises ``EngineUnavailableError`` when it says that it cannot."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._news.state in ("ready", "failed"))
        if self._news.state == "failed" or self._ready is None:
            raise EngineUnavailableError("engine_failed", self._news.detail)
        return self._ready

    @property
    def status(self) -> EngineStatus:
        pid = self._process.pid if self._process else 0
        restarts = max(0, self._starts - 1)
        return EngineStatus(self._news, self._ready, self._startup_ms, restarts, pid, self._memory, self._metrics)

    # For connections.

    @property
    def news(self) -> EngineNews:
        return self._news

    @property
    def served(self) -> Served:
        names = {"auto", self._settings.model}
        if self._ready is not None:
            names.add(self._ready.model)
        return Served(frozenset(names), certain=self._ready is not None)

    def connect(self, listener: ConnectionListener) -> Lane:
        lane = Lane(listener)
        self._listeners[lane] = listener
        return lane

    def send(self, lane: Lane, message: messages.Down) -> None:
        """Queue a message; never waits. Only meaningful while the engine is ready."""
        if self._news.state == "ready":
            self._lanes.put(lane, message)
            self._outgoing.set()

    def disconnect(self, lane: Lane) -> None:
        """The connection hears nothing more; what it sent last, its ``Close``, still goes out."""
        self._listeners.pop(lane, None)

    # The child's life.

    async def _supervise(self) -> None:
        while not self._stopping.is_set():
            ending = await self._live_once()
            if self._stopping.is_set():
                return
            decision = self._policy.after(ending)
            logger.warning("engine: %s", ending.reason)
            if decision.delay_s is None:
                await self._tell("failed", f"{ending.reason} Start the server again when that is mended.")
                await self._stopping.wait()
                return
            await self._tell("failed" if decision.failed else "restarting", f"{ending.reason} It is started again.")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), decision.delay_s)

    async def _live_once(self) -> Ending:
        """One child from its spawn to its end."""
        loop = asyncio.get_running_loop()
        self._starts += 1
        self._fault = ""
        self._spawned_s, self._ready_s, refused = loop.time(), 0.0, ""
        try:
            process = await EngineProcess.spawn(self._settings.command)
        except OSError as error:
            self._launched.set()
            return Ending(f"The engine could not be started ({error.strerror}).", was_ready=False)
        self._process = process
        watchdog = Watchdog(self._settings.silence_s, self._settings.load_s)
        tasks = [
            asyncio.create_task(self._write(process, watchdog), name="engine writer"),
            asyncio.create_task(self._watch(process, watchdog), name="engine watchdog"),
        ]
        try:
            refused = await self._hear(process, watchdog)
        except FramingError as error:
            self._fault = f"The engine's output could not be read ({error})."
            process.kill()
        finally:
            text = await self._bury(process, tasks)
        reason = self._fault or f"The engine {text}."
        return Ending(reason, self._ready_s > 0, loop.time() - self._spawned_s, refused)

    async def _hear(self, process: EngineProcess, watchdog: Watchdog) -> str:
        """Take what the child says until it ends; the code of its refusal when it says that it cannot load."""
        loop = asyncio.get_running_loop()
        async for message in process.receive():
            watchdog.heard(message, loop.time())
            if isinstance(message, messages.Ready):
                self._ready_s = loop.time()
                self._startup_ms = round((self._ready_s - self._spawned_s) * 1000)
            elif isinstance(message, messages.Failed) and message.session is None:
                self._fault = message.message
                return "" if self._ready_s else message.code
            await self._deliver(message)
        return ""

    async def _bury(self, process: EngineProcess, tasks: list[asyncio.Task[None]]) -> str:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        text = await process.end(STOP_GRACE_S)
        self._process = None
        self._launched.set()
        self._memory = self._metrics = None
        return text

    async def _write(self, process: EngineProcess, watchdog: Watchdog) -> None:
        loop = asyncio.get_running_loop()
        load = messages.Load(
            self._settings.model, self._settings.device, self._settings.threads, self._settings.precision
        )
        watchdog.sent(load, loop.time())
        try:
            await process.send(load)
            await self._tell("loading", "The engine is loading the model.")
            self._launched.set()
            while True:
                while (message := self._lanes.pop()) is not None:
                    if not isinstance(message, messages.Ping):
                        watchdog.sent(message, loop.time())
                    await process.send(message)
                self._outgoing.clear()
                await self._outgoing.wait()
        except ConnectionError:
            # The child's end, which is dealt with where its output is read.
            logger.info("engine: the pipe to it is broken")
        except Exception:
            logger.exception("engine: writing to it failed")
            self._fault = "The server could not write to the engine."
            process.kill()

    async def _watch(self, process: EngineProcess, watchdog: Watchdog) -> None:
        loop = asyncio.get_running_loop()
        pings = 0
        next_ping_s = loop.time()
        while not (reason := watchdog.overdue(loop.time())):
            await asyncio.sleep(WATCH_EVERY_S)
            # An engine that loads cannot answer; while nobody uses it, it need not.
            if self._news.state == "ready" and self._listeners and loop.time() >= next_ping_s:
                pings += 1
                next_ping_s = loop.time() + self._settings.silence_s / 3
                ping = messages.Ping(pings)
                # It counts from now on: the pipe may be full because nobody reads it.
                watchdog.sent(ping, loop.time())
                self._lanes.put(self._own_lane, ping)
                self._outgoing.set()
        self._fault = reason
        process.kill()

    async def _deliver(self, message: messages.Up) -> None:
        match message:
            case messages.Ready():
                self._ready = message
                await self._tell("ready", f"{message.model} on {message.device}")
            case messages.Memory():
                self._memory = message
            case messages.Metrics():
                self._metrics = message
            case _:
                listener = self._lanes.owner(message)
                if listener is not None:
                    listener.engine_message(message)

    async def _tell(self, state: EngineWord, detail: str) -> None:
        """The one setter of the engine's state. What was meant for a child that is gone is not sent to the next."""
        logger.info("engine: %s (%s)", state, detail)
        if state != "ready":
            self._lanes.clear()
        self._news = news = EngineNews(state, detail)
        for listener in list(self._listeners.values()):
            listener.engine_news(news, self.served)
        async with self._changed:
            self._changed.notify_all()
