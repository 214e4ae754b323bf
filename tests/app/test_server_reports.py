"""What a server says over HTTP, and each way in which it does not. Real sockets; a scripted engine."""

from __future__ import annotations

import socket

import pytest
from running_server import client, eventually_shown, server
from same_answer import answering

from sayso.app.realtime.endpoint import remote
from sayso.app.server_reports import ReportError, ServerReports
from sayso.server.config import ServerConfig


async def test_everything_that_can_be_asked_is_answered() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        reports = ServerReports(remote(url))
        health = await reports.health()
        assert health.status == "ready"
        assert health.server is not None
        assert min(health.server.resident_bytes, health.engine.resident_bytes, health.engine.pid) > 0
        (session,) = await reports.sessions()
        assert session.id
        await reports.change_limits({"drop_after_s": 9.0})
        assert (await reports.limits())["drop_after_s"] == 9.0
        await c.start()
        await c.audio(0.5)
        await eventually_shown(url, lambda rows: rows[0]["state"] == "streaming")
        await reports.park_session(session.id, "dropped")
        await c.end()
        await c.until("transcription.done")
        assert await reports.end_engine()
        await reports.start_engine()
        await reports.close_session(session.id)


async def test_a_refusal_has_the_servers_code_and_words() -> None:
    async with server() as url:
        with pytest.raises(ReportError, match="no such session") as caught:
            await ServerReports(remote(url)).close_session("sess-none")
        assert caught.value.code == "session_not_found"
        with pytest.raises(ReportError) as caught:
            await ServerReports(remote(url)).change_limits({"drop_after_s": -1.0})
        assert caught.value.code == "bad_limit"


async def test_a_wrong_key_is_refused_and_the_right_one_is_sent() -> None:
    async with server(config=ServerConfig(port=0, key="right")) as url:
        with pytest.raises(ReportError):
            await ServerReports(remote(url, "wrong")).sessions()
        assert await ServerReports(remote(url, "right")).sessions() == ()


async def test_a_server_that_is_not_there_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ReportError) as caught:
        await ServerReports(remote(f"127.0.0.1:{port}")).health()
    assert caught.value.code == "unreachable"


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"data": 3}', b"\xff\xfe"])
async def test_an_answer_that_cannot_be_read_is_an_error_and_no_guess(content: bytes) -> None:
    async with answering(content) as reports:
        with pytest.raises(ReportError) as caught:
            await reports.sessions()
        assert caught.value.code == "unreadable"


async def test_an_empty_answer_reports_nothing() -> None:
    async with answering(b"") as reports:
        assert (await reports.health()).server is None
