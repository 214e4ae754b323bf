"""Many connections on one server: nothing of theirs stays, and none waits for another."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running_server import BOUND_S, client, eventually, scripted, server, silence

from sayso.server.engine_client import EngineClient
from sayso.server.outbox import Outbox
from sayso.server.protocol.dialects.vllm import VllmDialect
from sayso.server.session import Session
from sayso.server.turn_limits import Limits


async def test_many_clients_at_once_each_get_their_own_text() -> None:
    async def one_turn(url: str, halves: int) -> str:
        async with client(url) as c:
            await c.choose()
            return await c.transcribe(halves / 2)

    async with server() as url, asyncio.timeout(BOUND_S):
        texts = await asyncio.gather(*(one_turn(url, 1 + n % 7) for n in range(40)))
    assert [len(text.split()) for text in texts] == [1 + n % 7 for n in range(40)]


async def test_a_client_that_sends_an_hour_at_once_does_not_hold_up_another() -> None:
    async with server() as url, client(url, max_queue=None) as greedy, client(url) as c:
        await greedy.choose()
        await c.choose()
        await greedy.start()
        for _ in range(12):
            await greedy.audio(300.0)
        await greedy.end()
        assert await c.transcribe(1.0) == "w0 w1"
        events = await greedy.until("transcription.done", most=10_000)
        refused = [event for event in events if event["type"] == "error"]
        assert {event["code"] for event in refused} <= {"buffer_full"}
        assert len(events[-1]["text"].split()) == (12 - len(refused)) * 600


async def test_clients_that_come_and_go_leave_nothing_in_the_engine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with server(scripted("--log", log)) as url:
        for _ in range(30):
            async with client(url) as c:
                await c.choose()
                await c.start()
                await c.audio(0.25)
        await eventually(lambda: log.read_text().count("Close ") == log.read_text().count("Open ") > 0)


async def test_a_fault_of_the_server_ends_its_session_with_a_word_and_1011(monkeypatch: pytest.MonkeyPatch) -> None:
    async with server() as url, client(url) as c, client(url) as other:
        await c.choose()
        await other.choose()
        monkeypatch.setattr(VllmDialect, "decode", lambda self, text: 1 / 0)
        await c.audio(0.5)
        error = await c.expect("error")
        assert error["code"] == "processing_error"
        await asyncio.wait_for(c.socket.wait_closed(), BOUND_S)
        assert c.socket.close_code == 1011
        monkeypatch.undo()
        assert await other.transcribe(0.5) == "w0"


async def test_a_fault_while_hearing_the_engine_ends_only_that_session_and_no_word_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = "-".join(["what", "was", "said"])

    def broken(self: object, message: object) -> None:
        raise KeyError(said)

    async with server() as url, client(url) as c, client(url) as other:
        await c.choose()
        await c.start()
        await other.choose()
        monkeypatch.setattr("sayso.server.turns.TurnEngine.engine_message", broken)
        await c.audio(0.5)
        assert (await c.expect("error"))["code"] == "processing_error"
        await asyncio.wait_for(c.socket.wait_closed(), BOUND_S)
        monkeypatch.undo()
        assert await other.transcribe(0.5) == "w0"
    assert "fault in the server: KeyError" in caplog.text
    assert said not in caplog.text


@pytest.mark.parametrize(
    ("kind", "fields", "alive"),
    [
        ("no.such.event", {}, False),
        ("session.update", {"model": "auto"}, True),
        ("sayso.heard", {"frames": 0}, False),
        ("input_audio_buffer.commit", {"final": False}, False),
        ("input_audio_buffer.commit", {"final": True}, True),
        ("input_audio_buffer.append", {"audio": silence(0.05)}, True),
        # For this one there is no room, but somebody speaks.
        ("input_audio_buffer.append", {"audio": silence(2.0)}, True),
        ("input_audio_buffer.append", {"audio": "?"}, False),
        ("input_audio_buffer.clear", {}, True),
    ],
)
def test_what_is_refused_is_no_sign_of_life(kind: str, fields: dict[str, Any], alive: bool) -> None:
    now_s = [0.0]
    engine = EngineClient(scripted())
    session = Session(
        "sess-a",
        VllmDialect("sess-a"),
        engine,
        Outbox(10**6),
        Limits(waiting_s=1.0),
        lambda _: False,
        clock=lambda: now_s[0],
    )

    def say(kind: str, **fields: Any) -> None:
        session.text_frame(msgspec.json.encode({"type": kind, **fields}).decode())

    say("session.update", model="auto")
    say("input_audio_buffer.commit", final=False)
    now_s[0] = 5.0
    say(kind, **fields)
    assert session.facts.idle_s == (0.0 if alive else 5.0)
