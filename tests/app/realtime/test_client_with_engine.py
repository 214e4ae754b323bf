"""The client and the real chain behind it: switched and killed in mid-utterance, every word still comes once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import numpy as np
import psutil
import pytest
import soundfile
from numpy.typing import NDArray
from told_events import ToldEvents

from sayso.app.local_server import LocalServer
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import Connection, TurnDone, TurnLost, TurnStable
from sayso.app.snapshot import ServerState

pytestmark = pytest.mark.engine

BECKETT = Path(__file__).parents[2] / "data" / "beckett.wav"
WORDS = ["ever", "tried", "ever", "failed", "no", "matter", "try", "again", "fail", "again", "fail", "better"]
PACE = 2.0
"""How much faster than it was said the speech is fed."""


@pytest.fixture
async def local() -> AsyncIterator[LocalServer]:
    started = LocalServer(threads=2)
    started.spawn()
    yield started
    await started.close()


class Told(ToldEvents):
    @property
    def words(self) -> list[str]:
        done = [event.text for event in self.events if isinstance(event, TurnDone)]
        assert len(done) == 1
        assert done[0] == "".join(event.text for event in self.events if isinstance(event, TurnStable))
        return re.findall(r"[a-z']+", done[0].lower())

    @property
    def lost_ms(self) -> int:
        return sum(event.lost_ms for event in self.events if isinstance(event, TurnLost))


async def speak(client: RealtimeClient, mishap_at_s: float, mishap: Callable[[], Awaitable[object]]) -> None:
    """Feed the recording at its pace; at one place something happens."""
    samples: NDArray[np.float32] = soundfile.read(BECKETT, dtype="float32")[0]
    loop = asyncio.get_running_loop()
    turn, began, happened = client.begin(), loop.time(), False
    for start in range(0, len(samples), 1280):
        client.append(turn, samples[start : start + 1280])
        if not happened and start >= mishap_at_s * 16_000:
            happened = True
            await mishap()
        await asyncio.sleep(max(0.0, began + start / 16_000 / PACE - loop.time()))
    client.end(turn)
    assert await client.finished(60)


def engine_of(local: LocalServer) -> psutil.Process:
    assert local.pid is not None
    children: list[psutil.Process] = psutil.Process(local.pid).children()
    assert len(children) == 1
    return children[0]


async def test_an_engine_that_gave_its_memory_back_is_woken_by_speech_and_no_word_is_lost(local: LocalServer) -> None:
    told = Told()
    client = RealtimeClient(local.endpoint, told)
    client.start()
    try:
        await asyncio.wait_for(told.ready.wait(), 60)
        engine, endpoint = engine_of(local), await local.endpoint()
        address = endpoint.url.replace("ws://", "http://").replace("/realtime", "/engine/unload")
        async with httpx.AsyncClient(trust_env=False) as http:
            headers = {"Authorization": f"Bearer {endpoint.key}"}
            answer = await http.post(address, json={"end": True}, headers=headers)
        assert answer.json() == {"state": "idle", "done": True}
        await asyncio.to_thread(engine.wait, 30)
        told.ready.clear()

        async def nothing() -> None:
            """Nothing goes wrong in this speech."""

        await speak(client, 0.0, nothing)
    finally:
        await client.close()
    assert told.ready.is_set()
    assert told.words == WORDS
    assert told.lost_ms == 0


async def test_an_engine_that_is_killed_in_mid_utterance_costs_no_word(local: LocalServer) -> None:
    told = Told()
    client = RealtimeClient(local.endpoint, told)
    client.start()
    try:
        await asyncio.wait_for(told.ready.wait(), 60)

        async def kill() -> None:
            engine_of(local).kill()

        await speak(client, 4.0, kill)
    finally:
        await client.close()
    assert told.words == WORDS
    assert told.lost_ms == 0
    assert ServerState.LOADING in [event.state for event in told.events if isinstance(event, Connection)]


async def test_a_server_that_is_killed_in_mid_utterance_costs_no_word(local: LocalServer) -> None:
    told = Told()
    client = RealtimeClient(local.endpoint, told)
    client.start()
    try:
        await asyncio.wait_for(told.ready.wait(), 60)

        async def kill() -> None:
            assert local.pid is not None
            psutil.Process(local.pid).kill()

        await speak(client, 4.0, kill)
    finally:
        await client.close()
    assert told.words == WORDS
    assert told.lost_ms == 0


async def test_switching_servers_in_mid_utterance_costs_no_word(local: LocalServer) -> None:
    other = LocalServer(threads=2)
    other.spawn()
    told = Told()
    client = RealtimeClient(local.endpoint, told)
    client.start()
    try:
        await asyncio.wait_for(told.ready.wait(), 60)
        await speak(client, 5.1, lambda: client.switch(other.endpoint))
    finally:
        await client.close()
        await other.close()
    assert told.words == WORDS
    assert told.lost_ms == 0
