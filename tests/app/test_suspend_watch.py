"""What is done before and after a suspend, with a real bus on which logind is played, and clocks that leap."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from played_logind import played_logind
from played_service import private_bus

from sayso.app.clocks import Moment
from sayso.app.suspend_watch import SuspendWatch

NO_BUS = "unix:path=/nowhere"


@dataclass
class Watched:
    """A watch and what it did."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    listening: bool = True
    slept_s: float = 0.0
    ticked: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, *what: str) -> None:
        self.asked.append(what)
        self.changed.set()

    async def record(self, *what: str) -> None:
        self.note(*what)

    def clock(self) -> Moment:
        self.ticked.set()
        return Moment(0.0, self.slept_s)

    async def until(self, asked: list[tuple[str, ...]]) -> None:
        async with asyncio.timeout(15):
            while self.asked != asked:
                self.changed.clear()
                await self.changed.wait()

    async def next_tick(self) -> None:
        for _ in range(2):
            self.ticked.clear()
            async with asyncio.timeout(15):
                await self.ticked.wait()


@contextlib.asynccontextmanager
async def watch(bus: str = NO_BUS) -> AsyncIterator[Watched]:
    watched = Watched()
    listener: Any = SimpleNamespace(
        start=lambda device: watched.record("start", device), stop=lambda: watched.record("stop")
    )
    store: Any = SimpleNamespace(settings=SimpleNamespace(microphone="desk"))
    proof: Any = SimpleNamespace(ask=lambda: watched.note("proof"))
    environment = {"DBUS_SYSTEM_BUS_ADDRESS": bus}
    made = SuspendWatch(watched, store, listener, proof, environment, watched.clock, tick_s=0.01)
    running = asyncio.create_task(made.run())
    try:
        yield watched
        assert not running.done()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_after_a_leap_of_the_clock_the_microphone_is_opened_anew_and_the_connection_doubted() -> None:
    async with watch() as watched:
        await watched.next_tick()
        watched.slept_s = 3600.0
        await watched.until([("proof",), ("start", "desk")])
        await watched.next_tick()
        assert len(watched.asked) == 2


async def test_a_microphone_that_was_closed_stays_closed() -> None:
    async with watch() as watched:
        watched.listening = False
        watched.slept_s = 3600.0
        await watched.until([("proof",)])


async def test_what_logind_announces_closes_the_microphone_and_opens_it_again(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    with played_logind(tmp_path, environment) as logind:
        async with watch(environment["DBUS_SYSTEM_BUS_ADDRESS"]) as watched:
            # The watch asks for the signals some time after it was started; one that comes before is not for it.
            async with asyncio.timeout(15):
                while not watched.asked:
                    logind.announce()
                    await watched.next_tick()
            assert watched.asked == [("stop",)]
            logind.end()
            await watched.until([("stop",), ("proof",), ("start", "desk")])


async def test_announcements_that_lose_a_cancel_do_not_keep_it_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(address: str) -> AsyncIterator[bool]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)
        yield True

    monkeypatch.setattr("sayso.app.logind.suspends", deaf)
    monkeypatch.setattr("sayso.app.cancellation._AGAIN_S", 0.01)
    async with asyncio.timeout(30):
        async with watch() as watched:
            await watched.next_tick()


async def test_a_bus_that_goes_away_leaves_the_clock(tmp_path: Path) -> None:
    with private_bus(tmp_path) as address:
        async with watch(address) as watched:
            await watched.next_tick()
    async with watch(address) as watched:
        await watched.next_tick()
        watched.slept_s = 3600.0
        await watched.until([("proof",), ("start", "desk")])
