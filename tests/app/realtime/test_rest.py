"""A connection that nobody uses is closed, and the next speech opens it again with nothing lost. Real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from played_vllm import VllmServer, speech, vllm_server
from running_server import eventually, scripted, server

from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.endpoint import Endpoint, remote
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.events import Connection, RealtimeEvent, TurnDone, TurnStable
from sayso.app.realtime.rest import Rest
from sayso.app.realtime.uplink import Uplink
from sayso.app.snapshot import ServerState
from sayso.server.config import ServerConfig

BOUND_S = 15.0


class Heard:
    """What a client told, and waits for more of it."""

    def __init__(self) -> None:
        self.events: list[RealtimeEvent] = []

    async def until(self, condition: Callable[[Heard], object], seconds: float) -> None:
        await asyncio.wait_for(eventually(lambda: bool(condition(self))), seconds)

    @property
    def stable(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TurnStable))

    @property
    def done(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, TurnDone)]

    @property
    def states(self) -> list[Connection]:
        return [event for event in self.events if isinstance(event, Connection)]

    def is_in(self, state: ServerState) -> bool:
        return bool(self.states) and self.states[-1].state is state


def words(first: int, end: int) -> str:
    return " ".join(f"w{index}" for index in range(first, end))


@asynccontextmanager
async def client(endpoint: Endpoint) -> AsyncIterator[tuple[RealtimeClient, Heard]]:
    heard = Heard()
    made = RealtimeClient(endpoint, heard.events.append, uplink=Uplink(retry_s=0.01))
    made.start()
    try:
        yield made, heard
    finally:
        await made.close()


def open_sessions(played: VllmServer) -> int:
    return len(played._open)


async def say(talker: RealtimeClient, first: int, count: int) -> None:
    turn = talker.begin()
    talker.append(turn, speech(first, count))
    talker.end(turn)
    assert await talker.finished(BOUND_S)


async def test_a_silent_connection_is_closed_and_the_next_speech_is_heard_from_its_first_word() -> None:
    async with vllm_server() as played, client(remote(played.url)) as (talker, heard):
        await say(talker, 1, 3)
        talker.rest.after(0.05)
        await heard.until(lambda h: h.is_in(ServerState.RESTING), BOUND_S)
        await eventually(lambda: open_sessions(played) == 0)
        assert talker.is_resting
        assert talker.session_id == ""
        await say(talker, 4, 3)
        assert heard.done == [words(1, 4), words(4, 7)]
        assert played.sessions == 2
        assert ServerState.LOST not in [state.state for state in heard.states]


async def test_a_turn_that_is_open_keeps_the_connection() -> None:
    async with vllm_server() as played, client(remote(played.url)) as (talker, heard):
        turn = talker.begin()
        talker.append(turn, speech(1, 2))
        talker.rest.now()
        await heard.until(lambda h: h.stable == words(1, 3), BOUND_S)
        assert open_sessions(played) == 1
        talker.append(turn, speech(3, 2))
        talker.end(turn)
        await heard.until(lambda h: h.is_in(ServerState.RESTING), BOUND_S)
        assert heard.done == [words(1, 5)]


async def test_who_is_about_to_speak_finds_the_connection_open() -> None:
    async with vllm_server() as played, client(remote(played.url)) as (talker, heard):
        await heard.until(lambda h: h.is_in(ServerState.READY), BOUND_S)
        talker.rest.now()
        await heard.until(lambda h: h.is_in(ServerState.RESTING), BOUND_S)
        talker.rest.disturb()
        await heard.until(lambda h: h.is_in(ServerState.READY), BOUND_S)
        assert played.sessions == 2


async def test_an_engine_that_is_being_started_is_waited_for(tmp_path: Path) -> None:
    gate = tmp_path / "ready"
    async with (
        server(scripted("--ready-file", gate), once_ready=False) as url,
        client(remote(url)) as (talker, heard),
    ):
        talker.rest.after(0.05)
        await heard.until(lambda h: h.is_in(ServerState.LOADING), BOUND_S)
        talker.rest.now()
        await asyncio.sleep(0.1)
        assert heard.is_in(ServerState.LOADING)
        gate.touch()
        await heard.until(lambda h: h.is_in(ServerState.RESTING), BOUND_S)
        assert ServerState.READY in [state.state for state in heard.states]


async def test_without_a_time_it_stays_open() -> None:
    rest = Rest(lambda: True)
    waiting = asyncio.create_task(rest.due())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    rest.after(0.01)
    with pytest.raises(RealtimeError, match="Nobody"):
        await asyncio.wait_for(waiting, BOUND_S)


async def test_speech_in_the_moment_of_closing_is_not_told_as_a_loss() -> None:
    async with vllm_server() as played, client(remote(played.url)) as (talker, heard):
        for first in range(1, 100, 10):
            await say(talker, first, 2)
            talker.rest.now()
            for _ in range(first // 10):
                await asyncio.sleep(0)
        assert heard.done == [words(first, first + 2) for first in range(1, 100, 10)]
        assert ServerState.LOST not in [state.state for state in heard.states]


async def test_a_server_that_closes_silent_clients_is_left_alone_until_the_next_speech() -> None:
    config = ServerConfig(port=0, idle_s=0.2, idle_warning_s=0.0)
    async with server(config=config) as url, client(remote(url)) as (talker, heard):
        await heard.until(lambda h: h.is_in(ServerState.RESTING), BOUND_S)
        assert heard.states[-1].code == "idle_timeout"
        turn = talker.begin()
        talker.append(turn, speech(1, 10))
        talker.end(turn)
        assert await talker.finished(BOUND_S)
        assert heard.done == ["w0 w1"]


async def test_a_connection_that_has_lasted_as_long_as_it_may_is_followed_by_another_without_a_word() -> None:
    config = ServerConfig(port=0, session_s=0.5)
    async with server(config=config) as url, client(remote(url)) as (talker, heard):
        ids = set[str]()

        def rotated() -> bool:
            ids.add(talker.session_id)
            return len(ids - {""}) >= 3

        await heard.until(lambda h: h.is_in(ServerState.READY), BOUND_S)
        turn = talker.begin()
        talker.append(turn, speech(1, 10))
        # The connection's time runs out in this turn, which goes on; the next ones come when they come.
        await heard.until(lambda h: h.stable == "w0 w1", BOUND_S)
        talker.append(turn, speech(1, 10))
        talker.end(turn)
        assert await talker.finished(BOUND_S)
        for _ in range(3):
            await say(talker, 1, 10)
        await heard.until(lambda _: rotated(), BOUND_S)
        assert heard.done == ["w0 w1 w2 w3", *["w0 w1"] * 3]
        assert {state.state for state in heard.states} <= {ServerState.CONNECTING, ServerState.READY}
