"""What the desktop ties together for its memory: store, client, server choice and panel, without a microphone.

Its local server is a process of its own as it is for users, whose engine is a scripted child.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from played_vllm import speech
from running_server import BOUND_S, eventually

from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.memory_panel import MemoryPanel
from sayso.app.memory_policy import server_limits
from sayso.app.memory_view import MemoryView
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import Connection, RealtimeEvent, TurnDone
from sayso.app.realtime.uplink import Uplink
from sayso.app.server_choice import ServerChoice
from sayso.app.server_reports import ServerReports
from sayso.app.settings import KeyStore, Loaded, Settings
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import ServerState

SCRIPTED = Path(__file__).parent / "scripted_server.py"


class Desktop:
    """What the assistant ties together, without microphone and commands."""

    def __init__(self, folder: Path, settings: Settings, *arguments: str, local: LocalServer | None = None) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.faults: list[AppError] = []
        self.states: list[Connection] = []
        self.texts: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.store = SettingsStore(Loaded(settings), folder)
        command = [sys.executable, str(SCRIPTED), *arguments]
        self.local = local or LocalServer(command=command, limits=server_limits(settings.memory))
        self.client = RealtimeClient(self.local.endpoint, self.receive, uplink=Uplink(retry_s=0.01))
        self.server = ServerChoice(self.client, self.local, KeyStore(folder), settings)
        self.panel = MemoryPanel(self.store, self.client, self.server, self.local, self.changed, self.spawn)

    def changed(self) -> None:
        self.on_change()

    def receive(self, event: RealtimeEvent) -> None:
        if isinstance(event, Connection):
            self.states.append(event)
            self.spawn(self.connection(event))
        elif isinstance(event, TurnDone):
            self.texts.append(event.text)

    async def connection(self, event: Connection) -> None:
        await self.server.apply(event)
        self.panel.connection(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except AppError as error:
                self.faults.append(error)

        task = asyncio.get_running_loop().create_task(guarded())
        self.tasks.add(task)
        # One that is cancelled before it began never awaits its work.
        task.add_done_callback(lambda _: work.close())
        task.add_done_callback(self.tasks.discard)

    @property
    def view(self) -> MemoryView:
        return self.panel.view

    async def until(self, condition: Callable[[], object], seconds: float = BOUND_S) -> None:
        await eventually(lambda: bool(condition()), seconds)

    async def ready(self, seconds: float = BOUND_S) -> None:
        await self.until(lambda: self.client.connection.state is ServerState.READY, seconds)

    async def say(self, halves: int) -> str:
        """Speech of so many half seconds; its text."""
        before = len(self.texts)
        turn = self.client.begin()
        self.client.append(turn, speech(1, halves * 5))
        self.client.end(turn)
        await self.until(lambda: len(self.texts) > before)
        return self.texts[-1]

    async def in_force(self) -> dict[str, float]:
        endpoint = self.local.running
        assert endpoint is not None
        return await ServerReports(endpoint).limits()

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.client.close()
        await self.server.close()
        await self.store.written()


@asynccontextmanager
async def desktop(folder: Path, *arguments: str, **settings: Any) -> AsyncIterator[Desktop]:
    async with started(Desktop(folder, Settings(**settings), *arguments)) as made:
        yield made


@asynccontextmanager
async def started(made: Desktop) -> AsyncIterator[Desktop]:
    try:
        await made.server.begin()
        yield made
    finally:
        await made.close()


def children(local: LocalServer) -> list[int]:
    assert local.pid is not None
    return [child.pid for child in psutil.Process(local.pid).children(recursive=True)]
