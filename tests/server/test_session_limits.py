"""Connections that end because of time or of their keeper: warned, finished, closed in order. Real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
import websockets
from running_server import BOUND_S, Client, client, eventually, eventually_shown, scripted, server

from sayso.server.config import ServerConfig

SHORT = {"close_after_s": 0.7}


async def closed_normally(c: Client) -> None:
    with pytest.raises(websockets.ConnectionClosedOK):
        await c.next()
    assert c.socket.close_code == 1000


async def quiet(c: Client, *wishes: str) -> None:
    await c.expect("session.created")
    await c.send("session.update", model="auto", sayso={"events": list(wishes), "idle": SHORT})
    await c.expect("session.updated")


async def test_an_idle_client_is_warned_its_turn_is_finished_and_then_it_is_closed() -> None:
    async with server() as url, client(url) as c:
        await quiet(c, "idle")
        await c.start()
        await c.audio(0.75)
        assert (await c.expect("transcription.delta"))["delta"] == "w0"
        warning = await c.expect("sayso.idle")
        assert 0 < warning["closes_in_s"] <= 0.35
        assert (await c.expect("transcription.delta"))["delta"] == " w1"
        assert (await c.expect("transcription.done"))["text"] == "w0 w1"
        error = await c.expect("error")
        assert (error["code"], error["turn_lost"]) == ("idle_timeout", False)
        await closed_normally(c)


async def test_whoever_speaks_after_the_warning_is_not_closed() -> None:
    async with server() as url, client(url) as c:
        await quiet(c, "idle")
        await c.send("session.update", model="auto", sayso={"events": ["idle"], "idle": {"close_after_s": 3.0}})
        await c.expect("session.updated")
        await c.expect("sayso.idle")
        await c.send("session.update", model="auto", sayso={"events": ["idle"], "idle": SHORT})
        await c.expect("session.updated")
        await c.expect("sayso.idle")
        assert (await c.expect("error"))["code"] == "idle_timeout"


@pytest.mark.parametrize(
    ("kind", "fields", "code"),
    [
        ("response.create", {}, "unknown_event"),
        ("input_audio_buffer.commit", {"final": False}, "already_committed"),
        ("session.update", {"model": "none of ours"}, "model_not_found"),
    ],
)
async def test_whoever_sends_only_what_is_refused_is_closed_like_one_who_says_nothing(
    kind: str, fields: dict[str, object], code: str
) -> None:
    async with server() as url, client(url) as c:
        await quiet(c)
        await c.start()

        async def babble() -> None:
            with contextlib.suppress(websockets.ConnectionClosed):
                while True:
                    await c.send(kind, **fields)
                    await asyncio.sleep(0.02)

        babbling = asyncio.create_task(babble())
        events = [await c.next()]
        async with asyncio.timeout(BOUND_S):
            while events[-1].get("code") != "idle_timeout":
                events.append(await c.next())
            await babbling
        assert {event["code"] for event in events if event["type"] == "error"} == {code, "idle_timeout"}


async def test_audio_that_no_commit_follows_is_told_as_lost() -> None:
    async with server() as url, client(url) as c:
        await quiet(c)
        await c.audio(0.5)
        error = await c.expect("error")
        assert (error["code"], error["turn_lost"]) == ("idle_timeout", True)
        await closed_normally(c)


async def test_a_client_that_waits_for_its_text_is_not_idle(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    async with server(scripted("--flush-file", gate)) as url, client(url) as c, client(url) as other:
        await quiet(c)
        await quiet(other)
        await c.start()
        await c.audio(0.5)
        await c.end()
        assert (await c.expect("transcription.delta"))["delta"] == "w0"
        assert (await other.expect("error"))["code"] == "idle_timeout"
        gate.touch()
        assert (await c.expect("transcription.done"))["text"] == "w0"


async def test_a_connection_is_rotated_after_the_turn_in_which_its_time_ran_out(tmp_path: Path) -> None:
    config = ServerConfig(port=0, session_s=2.0)
    log = tmp_path / "log"
    async with server(scripted("--log", log), config) as url, client(url) as c, client(url) as other:
        await c.choose()
        await c.start()
        await c.audio(0.5)
        await c.expect("transcription.delta")
        error = await other.until("error")
        assert (error[-1]["code"], error[-1]["turn_lost"]) == ("session_expired", False)
        await closed_normally(other)
        await c.audio(0.5)
        assert (await c.expect("transcription.delta"))["delta"] == " w1"
        await c.end()
        assert (await c.expect("transcription.done"))["text"] == "w0 w1"
        assert (await c.expect("error"))["code"] == "session_expired"
        await closed_normally(c)
        await eventually(lambda: "Close " in log.read_text())


async def test_a_turn_that_is_begun_too_late_is_told_as_lost(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    config = ServerConfig(port=0, session_s=2.0)
    async with server(scripted("--flush-file", gate), config) as url, client(url) as c, client(url) as other:
        await c.choose()
        await c.start()
        await c.audio(0.5)
        await c.end()
        await c.expect("transcription.delta")
        await other.until("error")
        await c.start()
        await c.audio(0.5)
        await c.send("no.such.event")
        assert (await c.expect("error"))["code"] == "unknown_event"
        gate.touch()
        assert (await c.expect("transcription.done"))["text"] == "w0"
        error = await c.expect("error")
        assert (error["code"], error["turn_lost"]) == ("session_expired", True)


async def test_a_client_may_ask_for_its_memory_back_sooner_than_the_server_would(tmp_path: Path) -> None:
    log = tmp_path / "log"
    idle = {"park_after_s": 0.1, "drop_after_s": 0.3}
    async with server(scripted("--log", log)) as url, client(url) as c, client(url) as other:
        name = (await c.choose())["id"]
        await other.choose()
        await c.send("session.update", model="auto", sayso={"idle": idle})
        assert (await c.expect("session.updated"))["sayso"]["idle"]["park_after_s"] == 0.1
        for each in (c, other):
            assert await each.transcribe(0.5) == "w0"
        await eventually(lambda: log.read_text().count("Park ") == 2)
        assert {line for line in log.read_text().splitlines() if "Park" in line} == {f"Park {name}.0"}
        data = await eventually_shown(url, lambda data: "dropped" in {session["tier"] for session in data})
        assert {session["tier"] for session in data} <= {"dropped", "none"}
        assert await c.transcribe(0.5) == "w0"
        await eventually(lambda: log.read_text().count("Park ") >= 3)


async def test_a_client_that_connects_and_never_speaks_costs_no_session_of_the_engine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    config = ServerConfig(port=0, idle_s=0.3)
    async with server(scripted("--log", log), config) as url, client(url) as c:
        await c.expect("session.created")
        assert (await c.expect("error"))["code"] == "idle_timeout"
        await closed_normally(c)
        assert "Open" not in log.read_text()
