"""Memory that is asked for at once comes when nobody speaks; who speaks all the time is told to be waited for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from played_vllm import speech
from running_server import eventually, server

from sayso.app import memory_freeing
from sayso.app.local_server import LocalServer
from sayso.app.memory_freeing import FreeNow, StillSpeakingError
from sayso.app.memory_view import Sample
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.endpoint import remote
from sayso.app.server_reports import ServerReports
from sayso.app.snapshot import ServerState


class Made:
    def __init__(self, url: str) -> None:
        self.reports = ServerReports(remote(url))
        self.client = RealtimeClient(remote(url), lambda event: None)
        self.free = FreeNow(self.client, LocalServer(), self.measure)

    async def measure(self) -> Sample:
        engine = (await self.reports.health()).engine
        return Sample(0.0, 1, 1, engine.resident_bytes)


@asynccontextmanager
async def made() -> AsyncIterator[Made]:
    async with server() as url:
        free = Made(url)
        free.client.start()
        await eventually(lambda: free.client.connection.state is ServerState.READY)
        try:
            yield free
        finally:
            await free.client.close()


async def test_the_engine_ends_and_what_it_held_is_told() -> None:
    async with made() as here:
        before, after = await here.free.end_engine(here.reports)
        assert before.engine
        assert after.engine == 0


async def test_the_connection_rests_and_its_memory_is_the_servers_affair() -> None:
    async with made() as here:
        await here.free.end_connection(with_server=False)
        assert here.client.is_resting
        assert await here.reports.sessions() == ()


@pytest.mark.parametrize("what", ["engine", "connection"])
async def test_who_speaks_all_the_time_is_waited_for_and_that_is_said(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_freeing, "PATIENCE_S", 0.5)
    async with made() as here:
        turn = here.client.begin()
        here.client.append(turn, speech(1, 5))
        await eventually(lambda: here.client._uplink.backlog_ms == 0)
        asked = here.free.end_engine(here.reports) if what == "engine" else here.free.end_connection(with_server=False)
        with pytest.raises(StillSpeakingError) as caught:
            await asked
        assert caught.value.code == "still_speaking"
        here.client.end(turn)
        assert await here.client.finished(15)
