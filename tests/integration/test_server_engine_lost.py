"""The real engine is killed in mid-utterance, and a client that knows nothing of Sayso gets every word once."""

from __future__ import annotations

import asyncio
import base64
import difflib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import websockets
from bounded import child, read_line
from running_server import Client
from speech import pcm16, recording, recording_text

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

KEY = "lost"
HEADERS = {"Authorization": f"Bearer {KEY}"}
PIECE = 6_400
"""Bytes of one append: 0.2 s."""
REPLY_S = 120.0


def words(text: str) -> list[str]:
    return re.sub(r"[^\w' ]", "", text.casefold()).split()


async def spoken(url: str, pcm: bytes, kill_at: list[int]) -> tuple[str, list[str]]:
    """The text of one turn, joined from its deltas, and errors; the engine is killed once so many bytes were sent."""
    health = url.replace("ws://", "http://").replace("/v1/realtime", "/health")
    async with websockets.connect(url, proxy=None, additional_headers=HEADERS) as socket:
        c = Client(socket)
        await c.expect("session.created")
        await c.send("session.update", model="auto")
        await c.start()
        text, errors, kills = "", [], list(kill_at)
        for start in range(0, len(pcm), PIECE):
            await c.send("input_audio_buffer.append", audio=base64.b64encode(pcm[start : start + PIECE]).decode())
            while kills and start >= kills[0] and not text:
                event = json.loads(await asyncio.wait_for(socket.recv(), REPLY_S))
                text += event.get("delta", "")
            if kills and start >= kills[0]:
                kills.pop(0)
                async with httpx.AsyncClient(trust_env=False) as http:
                    pid = (await http.get(health)).json()["engine"]["pid"]
                os.kill(pid, signal.SIGKILL)
        await c.end()
        while True:
            event = json.loads(await asyncio.wait_for(socket.recv(), REPLY_S))
            text += event.get("delta", "")
            if event["type"] == "error":
                errors.append(event["code"])
            elif event["type"] == "transcription.done":
                assert text == event["text"]
                return text, errors


async def test_an_engine_killed_in_mid_utterance_costs_a_plain_client_no_word(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sayso.server"]
    pcm = pcm16(recording("two_cities")[: 16 * 16_000])
    with child(command, os.environ, tmp_path / "log", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"port": 0, "key": KEY}).encode() + b"\n")
        process.stdin.flush()
        url = json.loads(read_line(process.stdout.fileno(), "the server's URL", 30))["url"]
        before, _ = await spoken(url, pcm, [])
        text, errors = await spoken(url, pcm, [8 * 32_000])
    assert not errors
    same = difflib.SequenceMatcher(None, words(before), words(text), autojunk=False)
    assert sum(block.size for block in same.get_matching_blocks()) >= len(words(before)) - 2
    assert abs(len(words(text)) - len(words(before))) <= 2
    assert words(text)[:5] == words(recording_text("two_cities"))[:5]
