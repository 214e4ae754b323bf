"""Sessions that outlive their connection: who may take them up, for how long, and with what. Real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import websockets
from running_server import BOUND_S, Client, ask, client, eventually, eventually_shown, scripted, server

from sayso.server import session as session_module
from sayso.server.config import ServerConfig

EVENTS = ["marker"]


async def choose(c: Client, **sayso: Any) -> dict[str, Any]:
    """Choose the model; the answer to the wish to resume, or to be resumable."""
    await c.expect("session.created")
    await c.send("session.update", model="auto", sayso={"events": EVENTS, "resumable": True, **sayso})
    event = await c.next()
    while event["type"] == "session.updated":
        event = await c.next()
    return event


async def shown(url: str) -> list[dict[str, Any]]:
    return await eventually_shown(url, lambda data: True)


async def until_lost(url: str, count: int = 1) -> None:
    await eventually_shown(url, lambda data: sum(not session["connected"] for session in data) == count)


async def two_lost(url: str) -> list[str]:
    """The tokens of two clients whose connections were lost, one after the other."""
    tokens = []
    for number in (1, 2):
        async with client(url) as c:
            tokens.append((await choose(c))["token"])
            c.socket.transport.abort()
        await until_lost(url, number)
    return tokens


async def test_the_longest_lost_goes_first() -> None:
    config = ServerConfig(port=0, most_connections=2)
    async with server(config=config) as url:
        tokens = await two_lost(url)
        async with client(url) as other:
            await choose(other)
            async with client(url) as back:
                assert (await choose(back, resume=tokens[1]))["type"] == "sayso.resumed"


async def test_what_was_refused_counts_as_received() -> None:
    async with server() as url:
        async with client(url) as c:
            token = (await choose(c))["token"]
            await c.socket.send("no JSON")
            await c.expect("error")
            c.socket.transport.abort()
        await until_lost(url)
        async with client(url) as back:
            assert (await choose(back, resume=token, heard=1))["received"] == 1


async def until_gone(url: str) -> None:
    await eventually_shown(url, lambda data: not data)


async def test_a_client_that_comes_back_is_told_what_came_and_gets_what_it_missed(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    async with server(scripted("--hears", "--flush-file", gate)) as url:
        async with client(url) as c:
            offer = await choose(c)
            assert (offer["type"], offer["grace_s"]) == ("sayso.resumable", 30.0)
            await c.start()
            await c.words(1, 2, 3)
            assert (await c.expect("transcription.delta"))["delta"] == "w1"
            assert (await c.expect("sayso.marker"))["audio_ms"] == 400
            await c.end()
            (session,) = await shown(url)
            await eventually_shown(url, lambda data: data[0]["state"] == "draining")
            c.socket.transport.abort()
            await until_lost(url)
            gate.touch()
        async with client(url) as c:
            resumed = await choose(c, resume=offer["token"], heard=2)
            assert resumed["type"] == "sayso.resumed"
            assert (resumed["id"], resumed["received"]) == (session["id"], 5)
            events = await c.until("transcription.done")
            assert [event.get("delta") or event.get("audio_ms") for event in events[:-1] if "model" not in event] == [
                " w2",
                900,
                " w3",
                1400,
            ]
            assert events[-1]["text"] == "w1 w2 w3"
            await c.start()
            await c.words(4)
            await c.end()
            assert (await c.until("transcription.done"))[-1]["text"] == "w4"


async def test_a_connection_that_only_seems_to_live_is_replaced_and_nothing_it_still_brings_counts() -> None:
    async with server(scripted("--hears")) as url, client(url) as old, client(url) as new:
        offer = await choose(old)
        await old.start()
        await old.words(1, 2)
        assert (await old.expect("transcription.delta"))["delta"] == "w1"
        resumed = await choose(new, resume=offer["token"], heard=1)
        assert (resumed["received"], resumed["audio_bytes"], resumed["state"]) == (3, 32_000, "streaming")
        with contextlib.suppress(websockets.ConnectionClosed):
            await old.words(99)
        await asyncio.wait_for(old.socket.wait_closed(), BOUND_S)
        assert old.socket.close_code == 4001
        await new.words(3)
        await new.end()
        assert (await new.until("transcription.done"))[-1]["text"] == "w1 w2 w3"


@pytest.mark.parametrize("mangle", [lambda token: token[:-1], lambda token: f"{token}x", lambda token: "nonsense"])
async def test_a_wrong_token_gets_a_new_session_and_does_no_harm(mangle: Any) -> None:
    async with server(scripted("--hears")) as url, client(url) as c, client(url) as thief:
        offer = await choose(c)
        error = await choose(thief, resume=mangle(offer["token"]), heard=0)
        assert (error["code"], error["turn_lost"]) == ("resume_failed", False)
        assert (await thief.until("sayso.resumable"))[-1]["token"] != offer["token"]
        await c.start()
        await c.words(1)
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w1"


async def test_a_token_is_worth_nothing_with_another_key() -> None:
    config = ServerConfig(port=0, key="client-key", admin_key="admin-key")
    mine, other = ({"Authorization": f"Bearer {key}"} for key in ("client-key", "admin-key"))
    async with server(config=config) as url, client(url, additional_headers=mine) as c:
        offer = await choose(c)
        async with client(url, additional_headers=other) as thief:
            assert (await choose(thief, resume=offer["token"]))["code"] == "resume_failed"
        async with client(url, additional_headers=mine) as again:
            assert (await choose(again, resume=offer["token"]))["type"] == "sayso.resumed"


async def test_nobody_comes_back_and_the_session_leaves_the_engine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    config = ServerConfig(port=0, resume_s=0.2)
    async with server(scripted("--log", log), config) as url:
        async with client(url) as c:
            offer = await choose(c)
            await c.start()
            await c.audio(0.5)
            await c.until("transcription.delta")
            c.socket.transport.abort()
        await until_gone(url)
        await eventually(lambda: log.read_text().count("Close ") == 1)
        async with client(url) as c:
            assert (await choose(c, resume=offer["token"]))["code"] == "resume_failed"


async def test_whoever_leaves_in_order_or_never_asked_is_not_waited_for() -> None:
    async with server() as url:
        async with client(url) as c:
            await choose(c)
        async with client(url) as c:
            await c.choose()
            c.socket.transport.abort()
        await until_gone(url)


async def test_lost_sessions_are_the_first_to_go_but_not_before_their_own_client() -> None:
    config = ServerConfig(port=0, most_connections=2)
    async with server(config=config) as url:
        tokens = await two_lost(url)
        async with client(url) as back:
            assert (await choose(back, resume=tokens[1]))["type"] == "sayso.resumed"
            assert len(await shown(url)) == 2
            async with client(url) as other:
                assert (await choose(other))["type"] == "sayso.resumable"
                assert [session["connected"] for session in await shown(url)] == [True, True]
                async with client(url) as refused:
                    assert (await refused.expect("error"))["code"] == "session_limit"
        async with client(url) as late:
            assert (await choose(late, resume=tokens[0]))["code"] == "resume_failed"


async def test_what_was_missed_is_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "KEPT_CHARACTERS", 200)
    async with server() as url, client(url) as c:
        offer = await choose(c)
        assert len(await c.transcribe(20.0)) > 100
        async with client(url) as again:
            assert (await choose(again, resume=offer["token"], heard=3))["code"] == "resume_failed"


async def test_what_a_client_has_heard_is_not_kept_and_cannot_be_asked_for_again() -> None:
    async with server() as url, client(url) as c:
        offer = await choose(c)
        assert await c.transcribe(1.0) == "w0 w1"
        await c.send("sayso.heard", frames=5)
        await c.send("session.update", model="auto")
        await c.expect("session.updated")
        async with client(url) as again:
            assert (await choose(again, resume=offer["token"], heard=4))["code"] == "resume_failed"
        async with client(url) as again:
            assert (await choose(again, resume=offer["token"], heard=5))["type"] == "sayso.resumed"
            assert (await again.until("session.updated"))[-1]["model"] == "auto"


async def test_the_engine_may_die_while_nobody_is_connected() -> None:
    async with server(scripted("--hears")) as url:
        async with client(url) as c:
            offer = await choose(c)
            await c.start()
            await c.words(*range(1, 11))
            heard = 0
            while heard < 2 * 10:
                await c.next()
                heard += 1
            c.socket.transport.abort()
        await until_lost(url)
        pid = (await ask(url, "GET", "/health")).json()["engine"]["pid"]
        os.kill(pid, signal.SIGKILL)
        async with client(url) as c:
            resumed = await choose(c, resume=offer["token"], heard=heard)
            assert (resumed["confirmed_ms"], resumed["received"]) == (9 * 500 + 400, 11)
            await c.end()
            expected = " ".join(f"w{number}" for number in range(1, 11))
            assert (await c.until("transcription.done"))[-1]["text"] == expected


async def test_a_shorter_grace_counts_for_those_that_are_lost_already() -> None:
    async with server() as url:
        async with client(url) as c:
            await choose(c)
            c.socket.transport.abort()
        await until_lost(url)
        await ask(url, "PATCH", "/v1/limits", json={"resume_s": 0.05})
        await until_gone(url)
