"""A thousand sessions that were opened and abandoned leave nothing in the server or its engine. Real sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from running_server import ask, client, eventually, eventually_shown, scripted, server

from sayso.server.config import ServerConfig
from sayso.server.footprint import resident_bytes

pytestmark = pytest.mark.timeout(180)

AT_ONCE = 25
MOST = 50


async def abandon(url: str) -> None:
    """Speak, get as far as a session that would be kept for us, and vanish."""
    async with client(url) as c:
        await c.send("session.update", model="auto", sayso={"resumable": True})
        await c.start()
        await c.audio(0.05)
        await c.until("sayso.resumable")
        c.socket.transport.abort()


async def test_a_thousand_sessions_opened_and_abandoned_leave_nothing_and_harm_nobody_who_speaks(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    config = ServerConfig(port=0, most_connections=MOST)
    async with server(scripted("--log", log), config) as url, client(url) as speaker:
        await speaker.choose()
        await speaker.start()
        resident = []
        pid = (await ask(url, "GET", "/health")).json()["engine"]["pid"]
        for _ in range(1000 // AT_ONCE):
            await asyncio.gather(speaker.audio(0.5), *(abandon(url) for _ in range(AT_ONCE)))
            assert len(await eventually_shown(url, lambda data: True)) <= MOST + AT_ONCE
            resident.append(resident_bytes(pid))
        await speaker.end()
        said = (await speaker.until("transcription.done"))[-1]["text"]
        assert said == " ".join(f"w{number}" for number in range(1000 // AT_ONCE))
        await speaker.socket.close()
        async with client(url) as c:
            await c.choose()
            assert await c.transcribe(0.5) == "w0"
            assert len(await eventually_shown(url, lambda data: True)) <= MOST
        await ask(url, "PATCH", "/v1/limits", json={"resume_s": 0})
        await eventually_shown(url, lambda data: not data)
        await eventually(lambda: log.read_text().count("Close ") == log.read_text().count("Open ") > 500)
        assert resident[-1] - resident[len(resident) // 2] < 2_000_000
