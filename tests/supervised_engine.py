"""An engine as the server leads it, without a server around it, and what tests ask of its process."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from running_server import BOUND_S, scripted

from sayso.engine import messages as m
from sayso.server.engine_client import EngineClient
from sayso.server.engine_settings import EngineSettings
from sayso.server.protocol.intents import EngineNews, Served
from sayso.server.restart import RestartPolicy

QUICK = RestartPolicy(delays_s=(0.0, 0.05), patience=2)


class Listener:
    def __init__(self) -> None:
        self.news: list[EngineNews] = []
        self.messages: list[m.Up] = []
        self.busy = False

    def engine_news(self, news: EngineNews, served: Served) -> None:
        self.news.append(news)

    def engine_message(self, message: m.Up) -> None:
        self.messages.append(message)

    @property
    def states(self) -> list[str]:
        return [news.state for news in self.news]


@contextlib.asynccontextmanager
async def engine(settings: EngineSettings | None = None) -> AsyncIterator[tuple[EngineClient, Listener]]:
    started = EngineClient(settings or scripted(), QUICK)
    listener = Listener()
    started.connect(listener)
    await started.start()
    try:
        yield started, listener
    finally:
        await asyncio.wait_for(started.stop(), BOUND_S)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def engine_pid(url: str) -> int:
    """The pid of the only engine below this process that serves at ``url``."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    scripts = [int(pid) for pid in children if b"scripted_engine" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(scripts) == 1, url
    return scripts[0]
