"""The realtime socket of a real server, with a scripted engine as its child: turns, faults of clients, ends."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets
from running_server import BOUND_S, Client, client, eventually, eventually_shown, scripted, server, silence

from sayso.server.config import ServerConfig


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


async def test_a_connection_is_greeted_with_an_id() -> None:
    async with server() as url, client(url) as c:
        created = await c.expect("session.created")
        assert created["id"].startswith("sess-")
        assert isinstance(created["created"], int)


async def test_a_turn_gives_deltas_and_a_done_with_their_text() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        assert await c.transcribe(1.25) == "w0 w1 w2"
        assert await c.transcribe(0.5) == "w0"


async def test_deltas_come_while_audio_is_still_being_sent() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.audio(0.5)
        assert (await c.next()) == {"type": "transcription.delta", "delta": "w0"}
        await c.audio(0.5)
        assert (await c.next()) == {"type": "transcription.delta", "delta": " w1"}
        await c.end()
        done = await c.expect("transcription.done")
        assert done["text"] == "w0 w1"
        assert done["usage"] == {
            "prompt_tokens": 50,
            "completion_tokens": 4,
            "total_tokens": 54,
            "prompt_tokens_details": None,
        }


async def test_a_client_that_asks_gets_everything() -> None:
    async with server() as url, client(url) as c:
        updated = await c.choose("partial", "words", "speech", "marker", "engine")
        assert updated["sayso"]["events"] == ["partial", "words", "speech", "marker", "engine"]
        assert (await c.expect("sayso.engine"))["state"] == "ready"
        await c.start()
        await c.audio(0.75)
        events = await c.until("sayso.partial")
        assert kinds(events) == ["sayso.speech", "transcription.delta", "sayso.words", "sayso.marker", "sayso.partial"]
        assert events[2]["words"] == [{"text": "w0", "start_ms": 0, "end_ms": 500, "probability": 0.9}]
        assert events[3]["audio_ms"] == 500
        assert events[4]["text"] == " w1"


async def test_an_unpaced_client_that_commits_last_is_served() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        for _ in range(40):
            await c.audio(1.0)
        await c.start()
        await c.end()
        done = (await c.until("transcription.done"))[-1]
        assert done["text"].split() == [f"w{n}" for n in range(80)]


async def test_one_append_may_carry_fifteen_mebibytes() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.send("input_audio_buffer.append", audio=base64.b64encode(bytes(15 * 2**20)).decode())
        await c.end()
        assert len((await c.until("transcription.done"))[-1]["text"].split()) == 15 * 2**20 // 16_000 + 1


async def test_sessions_do_not_hear_each_other() -> None:
    async with server() as url, client(url) as one, client(url) as two:
        await one.choose()
        await two.choose()
        await one.start()
        await two.start()
        await one.audio(0.5)
        await two.audio(1.5)
        await one.end()
        await two.end()
        assert (await one.until("transcription.done"))[-1]["text"] == "w0"
        assert (await two.until("transcription.done"))[-1]["text"] == "w0 w1 w2"


# Faults of clients: a coded error, and the session goes on.


FAULTS = {
    "{broken": "invalid_json",
    b"\x00\x01": "invalid_frame",
    '{"type":"input_audio_buffer.append","audio":"no base64!"}': "invalid_audio",
    '{"type":"input_audio_buffer.append","audio":"AAAA"}': "invalid_audio",
    '{"type":"input_audio_buffer.append","audio":""}': "invalid_audio",
    '{"type":"input_audio_buffer.append"}': "processing_error",
    '{"type":"response.create"}': "unknown_event",
    '{"type":"session.update"}': "invalid_event",
    '{"type":"session.update","model":null}': "invalid_event",
    '{"type":"session.update","model":"gpt-9"}': "model_not_found",
    '{"type":"session.update","model":""}': "model_not_found",
}


async def test_each_faulty_message_in_mid_turn_is_answered_and_the_turn_goes_on() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        for frame, code in FAULTS.items():
            await c.start()
            await c.audio(0.25)
            await c.socket.send(frame)
            error = await c.expect("error")
            assert (error["code"], error["turn_lost"]) == (code, False)
            assert error["error"]
            await c.audio(0.25)
            await c.end()
            assert (await c.until("transcription.done"))[-1]["text"] == "w0"


async def test_thousands_of_empty_and_of_tiny_pieces_of_audio_do_no_harm() -> None:
    count = 1500
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        for _ in range(count):
            await c.send("input_audio_buffer.append", audio="")
        for _ in range(count):
            assert (await c.next())["code"] == "invalid_audio"
        for _ in range(8000):
            await c.send("input_audio_buffer.append", audio="AAA=")
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0"


async def test_clients_that_vanish_in_the_handshake_leave_nothing() -> None:
    """vLLM #57724: a connection that is lost before its greeting was never cleaned up."""
    async with server() as url:
        host, port = url.removeprefix("ws://").split("/")[0].split(":")
        for cut in range(40):
            _, writer = await asyncio.open_connection(host, int(port))
            lines = ["GET /v1/realtime HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade"]
            lines += ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13", "", ""]
            request = "\r\n".join(lines).encode()
            writer.write(request[: len(request) - (cut % 3)])
            await writer.drain()
            writer.transport.abort()
        await eventually_shown(url, lambda data: not data)
        async with client(url) as c:
            await c.choose()
            assert await c.transcribe(0.5) == "w0"


async def test_audio_before_session_update_is_kept() -> None:
    async with server() as url, client(url) as c:
        await c.audio(1.0)
        await c.choose()
        await c.start()
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0 w1"


async def test_a_commit_before_session_update_is_refused() -> None:
    async with server() as url, client(url) as c:
        await c.expect("session.created")
        await c.end()
        assert (await c.expect("error"))["code"] == "model_not_validated"
        await c.start()
        assert (await c.expect("error"))["code"] == "model_not_validated"


async def test_a_second_start_is_told_that_one_runs() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.start()
        assert (await c.expect("error"))["code"] == "already_committed"
        await c.audio(0.5)
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0"


async def test_commits_without_audio_end_with_an_empty_done() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.end()
        assert (await c.expect("transcription.done"))["text"] == ""
        assert await c.transcribe(0.5) == "w0"


async def test_audio_between_the_end_and_the_done_belongs_to_the_next_turn(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    async with server(scripted("--flush-file", gate)) as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.audio(0.5)
        await c.end()
        await c.audio(1.0)
        await c.start()
        gate.touch()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0"
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0 w1"


async def test_clear_is_confirmed_and_drops_the_turn() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        await c.start()
        await c.audio(2.0)
        await c.send("input_audio_buffer.clear")
        await c.until("input_audio_buffer.cleared")
        assert await c.transcribe(0.5) == "w0"


async def test_a_frame_over_the_limit_closes_with_1009() -> None:
    async with server() as url, client(url) as c:
        await c.expect("session.created")
        sending = asyncio.create_task(c.socket.send("x" * (25 * 2**20)))
        with pytest.raises(websockets.ConnectionClosedError) as caught:
            await c.next()
        await asyncio.gather(sending, return_exceptions=True)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009


async def test_closing_in_mid_speech_closes_the_engines_session(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with server(scripted("--log", log)) as url:
        for leave in ("close", "abort"):
            async with client(url) as c:
                await c.choose()
                await c.start()
                await c.audio(0.5)
                await c.expect("transcription.delta")
                if leave == "abort":
                    c.socket.transport.abort()
            opened = log.read_text().count("Open ")
            await eventually(lambda opened=opened: log.read_text().count("Close ") == opened)
        assert opened == 2


# Waiting for the engine.


async def test_audio_sent_while_the_engine_loads_is_transcribed_later(tmp_path: Path) -> None:
    gate = tmp_path / "ready"
    async with server(scripted("--ready-file", gate), once_ready=False) as url, client(url) as c:
        await c.choose("engine")
        assert (await c.expect("sayso.engine"))["state"] == "loading"
        await c.start()
        await c.audio(1.0)
        await c.end()
        gate.touch()
        events = await c.until("transcription.done")
        assert events[0]["state"] == "ready"
        assert events[-1]["text"] == "w0 w1"


async def test_a_full_inbox_is_an_error_and_what_was_taken_is_not_lost(tmp_path: Path) -> None:
    gate = tmp_path / "ready"
    config = ServerConfig(port=0, waiting_s=2.0)
    async with server(scripted("--ready-file", gate), config, once_ready=False) as url, client(url) as c:
        await c.choose()
        await c.start()
        for _ in range(3):
            await c.audio(1.0)
        error = await c.expect("error")
        assert (error["code"], error["turn_lost"]) == ("buffer_full", False)
        await c.end()
        gate.touch()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0 w1 w2 w3"


async def test_pings_are_answered_while_the_engine_hangs() -> None:
    async with server(scripted("--hang-on", "Flush")) as url, client(url) as c:
        await c.choose()
        await c.start()
        for _ in range(20):
            await c.audio(1.0)
        await c.end()
        pong = await c.socket.ping()
        await asyncio.wait_for(pong, BOUND_S)


# Ends.


async def test_a_shutdown_gives_open_turns_their_last_word_and_closes_with_1012() -> None:
    async with server() as url:
        socket = await websockets.connect(url, proxy=None)
        c = Client(socket)
        await c.choose()
        await c.start()
        await c.audio(0.5)
        await c.expect("transcription.delta")
    error = await c.expect("error")
    assert (error["code"], error["turn_lost"]) == ("shutting_down", True)
    with pytest.raises(websockets.ConnectionClosedError) as caught:
        await c.next()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1012


async def test_a_shutdown_waits_for_the_text_of_an_ended_turn(tmp_path: Path) -> None:
    gate = tmp_path / "flush"
    async with server(scripted("--flush-file", gate)) as url:
        socket = await websockets.connect(url, proxy=None)
        c = Client(socket)
        await c.choose()
        await c.start()
        await c.audio(0.5)
        await c.end()
        await c.expect("transcription.delta")
        asyncio.get_running_loop().call_later(0.2, gate.touch)
    assert (await c.expect("transcription.done"))["text"] == "w0"


async def test_a_client_that_says_nothing_for_as_long_as_it_allowed_is_closed_in_order() -> None:
    async with server() as url, client(url) as c:
        await c.expect("session.created")
        await c.send("session.update", model="auto", sayso={"idle": {"close_after_s": 0.2}})
        await c.expect("session.updated")
        await c.start()
        await c.audio(0.25)
        assert (await c.until("transcription.done"))[-1]["text"] == "w0"
        error = await c.expect("error")
        assert (error["code"], error["turn_lost"]) == ("idle_timeout", False)
        with pytest.raises(websockets.ConnectionClosedOK):
            await c.next()


async def test_more_clients_than_allowed_are_turned_away_with_the_reason() -> None:
    config = ServerConfig(port=0, most_connections=1)
    async with server(config=config) as url, client(url), client(url) as refused:
        assert (await refused.expect("error"))["code"] == "session_limit"
        with pytest.raises(websockets.ConnectionClosedError):
            await refused.next()
        assert refused.socket.close_code == 1013


async def test_a_client_that_does_not_read_is_let_go_and_others_go_on() -> None:
    config = ServerConfig(port=0, unread_bytes=100_000)
    async with server(config=config) as url, client(url) as c:
        slow = await websockets.connect(url, proxy=None, ping_interval=None)
        slow.transport.pause_reading()
        flood = asyncio.create_task(flood_with_faults(slow))
        await eventually_sessions(url, 1)
        await c.choose()
        assert await c.transcribe(0.5) == "w0"
        flood.cancel()
        slow.transport.abort()
        await asyncio.gather(flood, return_exceptions=True)


async def flood_with_faults(socket: websockets.ClientConnection) -> None:
    while True:
        await socket.send('{"type":"' + "x" * 90 + '"}')


async def eventually_sessions(url: str, count: int) -> None:
    """Wait until the server has this many clients."""
    health = url.replace("ws://", "http://").replace("/v1/realtime", "/health")
    async with asyncio.timeout(BOUND_S), httpx.AsyncClient(trust_env=False) as http:
        while True:
            if (await http.get(health)).json()["sessions"] == count:
                return
            await asyncio.sleep(0.05)


def test_silence_is_whole_samples() -> None:
    assert len(base64.b64decode(silence(0.5))) == 16_000
