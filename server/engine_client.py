"""The server's side of the engine: one child, started again when it dies, shared by all connections.

Everything runs on the event loop and nothing in it waits for inference. Connections hear the engine's state as
``EngineNews``; anything but ``ready`` means that their engine sessions are gone. An engine that nobody uses may rest,
as ``server.idle`` decides: without weights, or ended; whoever speaks next wakes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Protocol

from sayso.engine import messages
from sayso.engine.framing import FramingError
from sayso.server.engine_process import EngineProcess
from sayso.server.engine_rest import EngineRest
from sayso.server.engine_settings import EngineSettings, EngineStatus
from sayso.server.errors import EngineUnavailableError
from sayso.server.idle import IdleSettings, Rest
from sayso.server.lanes import EngineListener, Lane, Lanes
from sayso.server.protocol.intents import EngineNews, EngineWord, Served
from sayso.server.restart import Ending, RestartPolicy
from sayso.server.tally import Tally
from sayso.server.watchdog import Watchdog

logger = logging.getLogger(__name__)

STOP_GRACE_S = 3.0
WATCH_EVERY_S = 0.25
"""How often the engine is looked at while it owes an answer."""
REST_EVERY_S = 1.0
"""How often while it owes none."""
UNLOADED = "The model is unloaded to free memory; it is loaded again when somebody speaks."
ENDED = "The engine has ended to free memory; it starts again when somebody speaks."


class ConnectionListener(EngineListener, Protocol):
    """A connection: hears messages of its own sessions, and the engine's state."""

    @property
    def busy(self) -> bool:
        """Whether the engine holds something that must not be lost."""

    def engine_news(self, news: EngineNews, served: Served) -> None: ...


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
        self._reloads = False
        """Whether the weights are on their way into a process that had dropped them."""
        self._startup_ms = self._start_ms = self._reload_ms = 0
        self._starts = self._restarts = 0
        self._rest = EngineRest(settings)
        self._retention = self._loaded_with = settings.retention
        """The rules for sessions in the engine, and those that its newest load brought."""
        self.tally = Tally()
        self._woken = asyncio.Event()
        self._memory: messages.Memory | None = None
        self._metrics: messages.Metrics | None = None
        self._process: EngineProcess | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._launched = asyncio.Event()
        self._changed = asyncio.Event()
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
        self._woken.set()
        # The supervisor may bury it meanwhile and forget it.
        process = self._process
        if process is not None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(STOP_GRACE_S / 3):
                    await process.send(messages.Stop())
            await process.end(STOP_GRACE_S)
        if self._supervisor is not None:
            await self._supervisor

    async def wait_ready(self) -> messages.Ready:
        """Wait until the engine can transcribe; raises ``EngineUnavailableError`` when it says that it cannot."""
        while self._news.state not in ("ready", "failed"):
            self._changed.clear()
            await self._changed.wait()
        if self._news.state == "failed" or self._ready is None:
            raise EngineUnavailableError("engine_failed", self._news.detail)
        return self._ready

    @property
    def status(self) -> EngineStatus:
        rest = self._rest
        return EngineStatus(
            self._news,
            self._ready,
            self._startup_ms,
            self._start_ms,
            self._reload_ms,
            self._restarts,
            self._starts,
            rest.unloads,
            rest.ends,
            self._process.pid if self._process else 0,
            rest.unused_s,
            rest.on_battery,
            rest.memory_pressure,
            self._memory,
            self._metrics,
        )

    def regulate(self, idle: IdleSettings, retention: messages.Retention) -> None:
        """Other rules, at once: for the engine of now and for those that follow it."""
        self._rest.rules = idle
        if retention != self._retention:
            self._retention = retention
            self.send(self._own_lane, messages.Retain(retention))
        self._consider_rest()

    def give_back(self, *, end: bool) -> bool:
        """Unload the weights or end the process as soon as nobody speaks; whether that has happened already."""
        if end or self._rest.asked != "end":
            # Whoever asked for less does not take back what another one was promised.
            self._rest.asked = "end" if end else "unload"
        self._consider_rest()
        return self._rest.asked == "keep"

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

    def wake(self) -> None:
        """Somebody speaks: an engine that rests is started or loads its model again. Never waits."""
        rested = self._rest.wake()
        if rested == "unload":
            self._spawned_s, self._reloads = asyncio.get_running_loop().time(), True
            self._tell("loading", "The engine is loading the model again.")
            self._lanes.put(self._own_lane, self._load())
            self._outgoing.set()
        elif rested == "end":
            self._woken.set()

    def disconnect(self, lane: Lane) -> None:
        """The connection hears nothing more; what it sent last, its ``Close``, still goes out."""
        self._listeners.pop(lane, None)

    # The child's life.

    async def _supervise(self) -> None:
        while not self._stopping.is_set():
            ending = await self._live_once()
            if self._rest.done != "keep" or self._woken.is_set():
                await self._sleep(ending)
                continue
            if self._stopping.is_set():
                return
            decision = self._policy.after(ending)
            logger.warning("engine: %s", ending.reason)
            if decision.delay_s is None:
                self._tell("failed", f"{ending.reason} Start the server again when that is mended.")
                await self._stopping.wait()
                return
            self._tell("failed" if decision.failed else "restarting", f"{ending.reason} It is started again.")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(decision.delay_s):
                    await self._stopping.wait()
            self._restarts += 1

    async def _sleep(self, ending: Ending) -> None:
        """The child has ended at rest; nobody needs another one until somebody speaks, or the server stops."""
        if self._rest.done == "unload":
            logger.warning("engine: %s", ending.reason)
            self._rest.done = "end"
            self._tell("idle", ENDED)
        await self._woken.wait()
        if not self._stopping.is_set():
            self._woken.clear()
            self._tell("starting", "The engine is started again.")

    async def _live_once(self) -> Ending:
        """One child from its spawn to its end."""
        loop = asyncio.get_running_loop()
        self._starts += 1
        self.tally.engine_started()
        self._fault = ""
        self._spawned_s, self._ready_s, self._reloads, refused = loop.time(), 0.0, False, ""
        try:
            process = await EngineProcess.spawn(self._settings.command)
        except OSError as error:
            self._launched.set()
            return Ending(f"The engine could not be started ({error.strerror}).", was_ready=False)
        self._process = process
        if self._stopping.is_set():
            # The server stopped while the system made the child, so that nobody has told it to end.
            return Ending(f"The engine {await self._bury(process, [])}.", was_ready=False)
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
                self._became_ready(loop.time())
            elif isinstance(message, messages.Failed) and message.session is None:
                self._fault = message.message
                return "" if self._ready_s else message.code
            await self._deliver(message)
        return ""

    def _became_ready(self, now_s: float) -> None:
        self._ready_s = now_s
        self._startup_ms = round((now_s - self._spawned_s) * 1000)
        if self._reloads:
            self._reload_ms = self._startup_ms
        else:
            self._start_ms = self._startup_ms
        self._reloads = False

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
        load = self._load()
        watchdog.sent(load, loop.time())
        try:
            await process.send(load)
            self._tell("loading", "The engine is loading the model.")
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
            every_s = WATCH_EVERY_S if watchdog.waits else REST_EVERY_S
            # With the web server's own tick, so that one wake serves both.
            await asyncio.sleep(every_s - loop.time() % every_s)
            self._consider_rest()
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

    def _load(self) -> messages.Load:
        wanted = self._settings
        self._loaded_with = self._retention
        return messages.Load(wanted.model, wanted.device, wanted.threads, wanted.precision, self._retention)

    def _consider_rest(self) -> None:
        """Let the engine rest if that is due. Deciding and telling are one step, in which nobody can begin to speak."""
        rest = self._rest
        if rest.done == "end" or self._news.state == "failed":
            rest.asked = "keep"
        process = self._process
        if process is None or self._stopping.is_set() or rest.done == "end":
            return
        if self._news.state not in ("ready", "idle"):
            return
        decision = rest.due(busy=any(listener.busy for listener in self._listeners.values()))
        if decision != "keep":
            self._give_way(process, decision)

    def _give_way(self, process: EngineProcess, decision: Rest) -> None:
        self._rest.do(decision)
        self._memory = self._metrics = None
        if decision == "unload":
            self._tell("idle", UNLOADED)
            self._lanes.put(self._own_lane, messages.Unload())
            self._outgoing.set()
            return
        self._tell("idle", ENDED)
        self._woken.clear()
        process.retire(STOP_GRACE_S)

    async def _deliver(self, message: messages.Up) -> None:
        match message:
            case messages.Ready():
                self._ready = message
                self._rest.use()
                self._tell("ready", f"{message.model} on {message.device}")
                if self._retention != self._loaded_with:
                    self.send(self._own_lane, messages.Retain(self._retention))
            case messages.Memory():
                self._memory = message
            case messages.Metrics():
                self._metrics = message
                self.tally.worked(message)
            case _:
                if isinstance(message, messages.Parked):
                    self.tally.heard(message)
                listener = self._lanes.owner(message)
                if listener is not None:
                    listener.engine_message(message)

    def _tell(self, state: EngineWord, detail: str) -> None:
        """The one setter of the engine's state. What was meant for a child that is gone is not sent to the next."""
        logger.info("engine: %s (%s)", state, detail)
        if state != "ready":
            self._lanes.clear()
        self._news = news = EngineNews(state, detail, self._ready.model if self._ready is not None else "")
        for listener in list(self._listeners.values()):
            listener.engine_news(news, self.served)
        self._changed.set()
