"""The client on real sockets: a server that plays vLLM, and faults as they happen."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from played_vllm import VllmServer, speech, vllm_server

from sayso.app.realtime.client import EndpointSource, RealtimeClient
from sayso.app.realtime.endpoint import Endpoint, remote
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.events import Behind, Connection, RealtimeEvent, TurnDone, TurnLost, TurnStable
from sayso.app.realtime.uplink import Uplink
from sayso.app.snapshot import ServerState


class Heard:
    """What a client told, and waits for more of it."""

    def __init__(self) -> None:
        self.events: list[RealtimeEvent] = []
        self._told = asyncio.Event()

    def __call__(self, event: RealtimeEvent) -> None:
        self.events.append(event)
        self._told.set()

    async def until(self, condition: Callable[[Heard], object], seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition(self):
                self._told.clear()
                await self._told.wait()

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


@asynccontextmanager
async def client(source: Endpoint | EndpointSource) -> AsyncIterator[tuple[RealtimeClient, Heard]]:
    heard = Heard()
    made = RealtimeClient(source, heard, uplink=Uplink(retry_s=0.01))
    made.start()
    try:
        yield made, heard
    finally:
        await made.close()


def words(first: int, end: int) -> str:
    return " ".join(f"w{index}" for index in range(first, end))


async def test_a_turn_is_shown_while_it_is_spoken_and_ends_with_all_of_its_text() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, heard):
        turn = talker.begin()
        talker.append(turn, speech(1, 3))
        await heard.until(lambda h: h.stable == words(1, 4))
        assert heard.done == []
        talker.append(turn, speech(4, 2))
        talker.end(turn)
        assert await talker.finished(5)
        assert heard.done == [words(1, 6)]
        assert heard.stable == words(1, 6)


async def test_the_model_of_the_server_is_found_and_told() -> None:
    async with vllm_server(model="mistral/voxtral") as server, client(remote(server.url)) as (_, heard):
        await heard.until(lambda h: h.is_in(ServerState.READY))
        ready = heard.states[-1]
        assert (ready.url, ready.model) == (server.url, "mistral/voxtral")


async def test_what_a_server_that_is_not_ours_lacks_is_said() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (_, heard):
        await heard.until(lambda h: h.is_in(ServerState.READY))
        assert "tentative" in heard.states[-1].detail


async def test_turns_spoken_one_after_the_other_each_get_their_own_text() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, heard):
        for first in (1, 11, 21):
            turn = talker.begin()
            talker.append(turn, speech(first, 2))
            talker.end(turn)
        assert await talker.finished(5)
        assert heard.done == [words(1, 3), words(11, 13), words(21, 23)]
        assert server.sessions == 1


async def test_what_is_said_before_there_is_a_connection_is_not_lost() -> None:
    async with vllm_server() as server:
        asked = asyncio.Event()

        async def source() -> Endpoint:
            await asked.wait()
            return remote(server.url)

        async with client(source) as (talker, heard):
            turn = talker.begin()
            talker.append(turn, speech(1, 15))
            assert heard.events[-1] == Behind(1500)
            asked.set()
            talker.end(turn)
            assert await talker.finished(5)
            assert heard.done == [words(1, 16)]
            assert Behind(0) in heard.events


async def test_a_dropped_connection_in_mid_turn_loses_and_doubles_nothing() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, heard):
        turn = talker.begin()
        talker.append(turn, speech(1, 5))
        await heard.until(lambda h: h.stable == words(1, 6))
        await server.drop_all()
        await heard.until(lambda h: h.is_in(ServerState.LOST))
        talker.append(turn, speech(6, 5))
        talker.end(turn)
        assert await talker.finished(10)
        assert heard.done == [words(1, 11)]
        assert heard.stable == words(1, 11)
        assert server.sessions == 2


async def test_switching_in_mid_turn_takes_the_turn_to_the_other_server() -> None:
    async with vllm_server() as first, vllm_server() as second, client(remote(first.url)) as (talker, heard):
        turn = talker.begin()
        talker.append(turn, speech(1, 5))
        await heard.until(lambda h: h.stable == words(1, 6))
        await talker.switch(remote(second.url))
        talker.append(turn, speech(6, 5))
        talker.end(turn)
        assert await talker.finished(5)
        assert heard.done == [words(1, 11)]
        assert len(second.audio[0]) == 10 * 1600


async def test_switching_does_not_wait_for_a_server_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        async with vllm_server() as server, client(remote(f"127.0.0.1:{deaf.getsockname()[1]}")) as (talker, heard):
            await heard.until(lambda h: h.is_in(ServerState.CONNECTING))
            # Opening a connection may take eight.
            async with asyncio.timeout(6):
                await talker.switch(remote(server.url))
                await heard.until(lambda h: h.is_in(ServerState.READY))


async def test_a_generation_that_fails_is_spoken_again_to_a_new_session() -> None:
    async with vllm_server(fail_at_word=4) as server, client(remote(server.url)) as (talker, heard):
        turn = talker.begin()
        talker.append(turn, speech(1, 6))
        talker.end(turn)
        assert await talker.finished(10)
        assert heard.done == [words(1, 7)]
        assert server.sessions == 2


async def test_a_turn_that_no_session_survives_is_told_as_lost_and_ends() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, heard):
        failing: list[int] = []

        async def keep_failing() -> None:
            while True:
                server.fail_at_word = 3
                failing.append(server.sessions)
                await asyncio.sleep(0.01)

        breaking = asyncio.create_task(keep_failing())
        turn = talker.begin()
        talker.append(turn, speech(1, 6))
        talker.end(turn)
        assert await talker.finished(30)
        breaking.cancel()
        lost = [event for event in heard.events if isinstance(event, TurnLost)]
        assert [(event.lost_ms, event.code) for event in lost] == [(600, "processing_error")]
        assert heard.done == [words(1, 3)]


async def test_speech_of_which_more_came_than_is_kept_is_told_as_lost_with_its_length_and_the_rest_is_heard() -> None:
    there, heard = asyncio.Event(), Heard()
    async with vllm_server() as server:

        async def source() -> Endpoint:
            await there.wait()
            return remote(server.url)

        talker = RealtimeClient(source, heard, uplink=Uplink(keep_s=2.0))
        talker.start()
        turn = talker.begin()
        for first in range(1, 51, 5):
            talker.append(turn, speech(first, 5))
        talker.end(turn)
        there.set()
        assert await talker.finished(15)
        await talker.close()
    lost_ms = sum(event.lost_ms for event in heard.events if isinstance(event, TurnLost))
    assert lost_ms == 3000
    assert heard.done == [words(31, 51)]


async def test_where_nothing_was_said_nothing_is_waited_for() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, _):
        async with asyncio.timeout(10):
            assert await talker.finished(30)


async def test_closing_keeps_what_was_said_and_start_brings_it_to_the_server() -> None:
    async with vllm_server() as server, client(remote(server.url)) as (talker, heard):
        await heard.until(lambda h: h.is_in(ServerState.READY))
        await talker.close()
        turn = talker.begin()
        talker.append(turn, speech(1, 4))
        talker.end(turn)
        talker.start()
        assert await talker.finished(5)
        assert heard.done == [words(1, 5)]


@pytest.mark.parametrize(
    ("options", "key", "model", "path", "code"),
    [
        ({"key": "right"}, "wrong", "", "", "unauthorised"),
        ({"key": "right"}, "", "", "", "unauthorised"),
        ({}, "", "", "/other/realtime", "wrong_path"),
        ({"model": "tiny"}, "", "large", "", "model_not_found"),
    ],
)
async def test_what_only_people_can_mend_is_told_as_refused(
    options: dict[str, str], key: str, model: str, path: str, code: str
) -> None:
    async with vllm_server(**options) as server:
        address = server.url.replace("/v1/realtime", path) if path else server.url
        async with client(remote(address, key, model)) as (_, heard):
            await heard.until(lambda h: h.is_in(ServerState.REFUSED))
            assert heard.states[-1].code == code
            assert heard.states[-1].detail


async def test_the_right_key_opens_the_door() -> None:
    async with vllm_server(key="right") as server, client(remote(server.url, "right")) as (_, heard):
        await heard.until(lambda h: h.is_in(ServerState.READY))


async def test_a_port_where_nothing_listens_is_told_and_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with client(remote(f"127.0.0.1:{port}")) as (_, heard):
        await heard.until(lambda h: h.is_in(ServerState.LOST))
        assert heard.states[-1].code == "refused"
        assert str(port) in heard.states[-1].detail


async def test_a_server_that_speaks_something_else_is_told_as_such() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]
        async with client(remote(f"127.0.0.1:{port}")) as (_, heard):
            await heard.until(lambda h: h.is_in(ServerState.REFUSED))
            assert heard.states[-1].code == "not_realtime"


async def test_a_tunnel_whose_server_is_away_is_tried_again_soon() -> None:
    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    async with await asyncio.start_server(end, "127.0.0.1", 0) as tunnel:
        port = tunnel.sockets[0].getsockname()[1]
        async with client(remote(f"127.0.0.1:{port}")) as (_, heard):
            await heard.until(lambda h: h.is_in(ServerState.LOST))
            assert heard.states[-1].code == "closed"
            assert "may be down" in heard.states[-1].detail


async def test_a_source_that_fails_is_told_and_asked_again() -> None:
    async with vllm_server() as server:
        answers = iter([RealtimeError("server_failed", "It ended."), remote(server.url)])

        async def source() -> Endpoint:
            answer = next(answers)
            if isinstance(answer, RealtimeError):
                raise answer
            return answer

        async with client(source) as (_, heard):
            await heard.until(lambda h: h.is_in(ServerState.READY))
            assert [state.code for state in heard.states if state.state is ServerState.LOST] == ["server_failed"]


def test_the_played_server_reads_what_was_spoken() -> None:
    assert (speech(3, 2) * 32767).round().tolist() == [3] * 1600 + [4] * 1600
    assert VllmServer().model == "tiny"
