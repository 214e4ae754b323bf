"""Expected words reach a server that takes them: with the first update, and again when they change."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.endpoint import remote


@asynccontextmanager
async def recording_server(kind: str) -> AsyncIterator[tuple[str, asyncio.Queue[dict[str, Any]]]]:
    """A server that greets as ``kind`` and keeps every ``session.update``."""
    updates: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def talk(socket: ServerConnection) -> None:
        await socket.send(json.dumps({"type": "session.created", "id": "sess-1", "created": 1, "server": kind}))
        async for frame in socket:
            if (event := json.loads(frame))["type"] == "session.update":
                updates.put_nowait(event)

    async with serve(talk, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", updates


async def test_a_sayso_server_is_told_at_once_and_after_every_change() -> None:
    async with recording_server("sayso") as (address, updates):
        client = RealtimeClient(remote(address), lambda event: None, bias=("Volume up",))
        client.start()
        first = await asyncio.wait_for(updates.get(), 10)
        client.expect_words(("Close window", "Mute"))
        second = await asyncio.wait_for(updates.get(), 10)
        await client.close()
    assert first["sayso"]["bias"] == ["Volume up"]
    assert second["sayso"]["bias"] == ["Close window", "Mute"]
    assert second["model"] == first["model"]


async def test_the_same_words_are_not_told_twice_and_an_update_keeps_the_events() -> None:
    async with recording_server("sayso") as (address, updates):
        client = RealtimeClient(remote(address), lambda event: None, bias=("Mute",))
        client.start()
        first = await asyncio.wait_for(updates.get(), 10)
        client.expect_words(("Mute",))
        client.expect_words(())
        second = await asyncio.wait_for(updates.get(), 10)
        await client.close()
    assert updates.empty()
    assert second["sayso"]["bias"] == []
    assert second["sayso"]["events"] == first["sayso"]["events"]


async def test_other_texts_are_asked_for_while_they_are_weighed() -> None:
    async with recording_server("sayso") as (address, updates):
        client = RealtimeClient(remote(address), lambda event: None, bias=("Mute",))
        client.start()
        asked = [(await asyncio.wait_for(updates.get(), 10))["sayso"]]
        for on in (True, False):
            client.weigh_texts(on, ("Unmute.",) if on else ())
            asked.append((await asyncio.wait_for(updates.get(), 10))["sayso"])
        await client.close()
    assert ["alternatives" in each["events"] for each in asked] == [False, True, False]
    assert [each["expected"] for each in asked] == [[], ["Unmute."], []]
    assert all(each["bias"] == ["Mute"] for each in asked)


async def test_a_plain_server_is_never_bothered_with_them() -> None:
    async with recording_server("vllm") as (address, updates):
        client = RealtimeClient(remote(address, model="tiny"), lambda event: None, bias=("Mute",))
        client.start()
        first = await asyncio.wait_for(updates.get(), 10)
        client.expect_words(("Close window",))
        turn = client.begin()
        client.cancel(turn)
        await client.close()
    assert "bias" not in (first.get("sayso") or {})
    assert updates.empty()
