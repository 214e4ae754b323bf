"""The engine's life as the server leads it, with a real child process that follows a script."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from running_server import BOUND_S, client, eventually, scripted, server
from supervised_engine import alive, engine, engine_pid

from sayso.server.config import ServerConfig
from sayso.server.engine_settings import EngineSettings
from sayso.server.errors import EngineUnavailableError, ServerError
from sayso.server.protocol.intents import Served


async def test_the_engine_becomes_ready_and_its_start_is_measured() -> None:
    async with engine() as (started, listener):
        ready = await asyncio.wait_for(started.wait_ready(), BOUND_S)
        assert ready.model == "scripted"
        assert started.status.startup_ms > 0
        assert listener.states == ["loading", "ready"]
        assert started.served == Served(frozenset({"auto", "scripted"}), certain=True)


async def test_stopping_ends_the_child() -> None:
    async with engine() as (started, _):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        pid = started.status.pid
    assert not alive(pid)


async def test_stopping_ends_a_child_that_is_still_loading(tmp_path: Path) -> None:
    async with engine(scripted("--ready-file", tmp_path / "never")) as (started, _):
        pid = started.status.pid
        assert alive(pid)
    assert not alive(pid)


async def test_a_killed_engine_is_replaced() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        first = started.status.pid
        os.kill(first, signal.SIGKILL)
        await eventually(lambda: listener.states.count("ready") == 2)
        assert started.status.pid != first
        assert started.status.restarts == 1
        lost = next(news for news in listener.news if news.state == "restarting")
        assert "SIGKILL" in lost.detail
        assert [news.model for news in listener.news if news.state == "ready"] == ["scripted"] * 2


async def test_an_engine_that_cannot_load_is_reported_once_with_its_reason() -> None:
    async with engine(scripted("--fail-load", "bad_hash")) as (started, listener):
        with pytest.raises(EngineUnavailableError, match="weights are broken"):
            await asyncio.wait_for(started.wait_ready(), BOUND_S)
        assert listener.states == ["loading", "failed"]
        assert started.status.restarts == 0


async def test_an_engine_that_dies_while_loading_is_reported_and_tried_again() -> None:
    async with engine(scripted("--exit-on-load")) as (started, listener):
        with pytest.raises(EngineUnavailableError, match="status 3"):
            await asyncio.wait_for(started.wait_ready(), BOUND_S)
        await eventually(lambda: started.status.restarts >= 3)
        assert listener.states[:4] == ["loading", "restarting", "loading", "failed"]


async def test_a_program_that_does_not_exist_is_reported() -> None:
    async with engine(EngineSettings(command=("/no/such/program",))) as (started, _):
        with pytest.raises(EngineUnavailableError, match="could not be started"):
            await asyncio.wait_for(started.wait_ready(), BOUND_S)


async def test_a_server_whose_engine_cannot_load_ends_with_the_reason() -> None:
    with pytest.raises(ServerError, match="fetch them again"):
        async with server(scripted("--fail-load", "bad_hash")):
            pass


# What sessions notice.


async def turn_until_error(c: Any) -> dict[str, Any]:
    await c.choose()
    await c.start()
    await c.audio(0.75)
    await c.end()
    return (await c.until("error"))[-1]


async def test_a_hung_engine_is_killed_and_the_turn_goes_on_in_the_next(tmp_path: Path) -> None:
    once = tmp_path / "once"
    async with (
        server(scripted("--hears", "--hang-on", "Flush", "--once", once, silence_s=0.5)) as url,
        client(url) as c,
    ):
        pid = await engine_pid(url)
        await c.choose("engine")
        await c.start()
        await c.words(1, 2)
        await c.end()
        events = await c.until("transcription.done")
        assert events[-1]["text"] == "w1 w2"
        details = [event["detail"] for event in events if event["type"] == "sayso.engine"]
        assert any("did not answer" in detail for detail in details)
        await eventually(lambda: not alive(pid))


async def test_an_engine_that_hangs_in_mid_speech_is_noticed_without_a_commit(tmp_path: Path) -> None:
    once = tmp_path / "once"
    async with (
        server(scripted("--hears", "--hang-on", "Audio", "--once", once, silence_s=0.6)) as url,
        client(url) as c,
    ):
        await c.choose()
        await c.start()
        await c.words(1, 2)
        assert (await c.expect("transcription.delta"))["delta"] == "w1"


async def test_an_engine_that_stops_reading_is_replaced_even_when_its_pipe_is_full() -> None:
    async with server(scripted("--hears", silence_s=0.6)) as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.words(1)
        os.kill(pid := await engine_pid(url), signal.SIGSTOP)
        for number in range(2, 32):
            await c.words(number)
            await c.audio(1.0)
        await eventually(lambda: not alive(pid))
        await c.end()
        done = (await c.until("transcription.done"))[-1]
        assert done["text"] == " ".join(f"w{number}" for number in range(1, 32))


async def test_a_silent_engine_that_answers_pings_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with server(scripted("--log", log, silence_s=0.3)) as url, client(url) as c:
        pid = await engine_pid(url)
        await c.choose()
        await eventually(lambda: log.read_text().count("Ping") >= 4)
        assert await engine_pid(url) == pid
        assert await c.transcribe(0.5) == "w0"


async def test_an_engine_that_writes_garbage_is_replaced(tmp_path: Path) -> None:
    async with server(scripted("--hears", "--garbage", "--once", tmp_path / "once")) as url, client(url) as c:
        await c.choose("engine")
        await c.start()
        await c.words(1, 2)
        await c.end()
        events = await c.until("transcription.done")
        assert events[-1]["text"] == "w1 w2"
        assert any("could not be read" in event.get("detail", "") for event in events)


async def test_a_refused_session_is_told_why() -> None:
    async with server(scripted("--refuse", "session_limit")) as url, client(url) as c:
        error = await turn_until_error(c)
        assert (error["code"], error["turn_lost"]) == ("session_limit", True)


async def test_a_session_that_fails_does_not_touch_the_others() -> None:
    async with server(scripted("--fail-session-at", 12_000)) as url, client(url) as c, client(url) as other:
        await other.choose()
        error = await turn_until_error(c)
        assert (error["code"], error["turn_lost"]) == ("bad_audio", True)
        assert await other.transcribe(0.5) == "w0"
        assert await c.transcribe(0.5) == "w0"


async def test_a_failed_engine_ends_turns_with_its_reason() -> None:
    config = ServerConfig(port=0)
    async with server(scripted("--fail-load", "bad_hash"), config, once_ready=False) as url, client(url) as c:
        error = await turn_until_error(c)
        assert (error["code"], error["turn_lost"]) == ("engine_failed", True)
        assert "fetch them again" in error["error"]
