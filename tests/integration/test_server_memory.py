"""The real engine gives its memory back when nobody speaks, and no word of the next speech is lost."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets
from bounded import child, read_line, wait_for
from running_server import Client
from speech import recording

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

KEY = "memory"
HEADERS = {"Authorization": f"Bearer {KEY}"}
ENGINE_S = 60.0
"""Within which a real engine is loaded, or has heard two seconds, on a machine that does other things too."""
MOST_SERVER_BYTES = 60 * 2**20
"""Of the server alone, which has neither torch nor a model."""


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def engine_pids(pid: int) -> list[int]:
    return [int(child_pid) for child_pid in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def spoken(c: Client) -> list[dict[str, Any]]:
    """Two seconds of a recording as one turn; all events up to its text."""
    pcm = (recording("beckett")[:32_000] * 32_767).astype("<i2").tobytes()
    await c.start()
    for start in range(0, len(pcm), 6_400):
        await c.send("input_audio_buffer.append", audio=base64.b64encode(pcm[start : start + 6_400]).decode())
    await c.end()
    events = [await c.next(ENGINE_S)]
    while events[-1]["type"] != "transcription.done":
        events.append(await c.next(ENGINE_S))
    return events


async def test_the_engine_ends_when_nobody_speaks_and_the_next_speech_is_heard_from_its_first_word(
    tmp_path: Path,
) -> None:
    settings = {"port": 0, "key": KEY, "engine_end_after_s": 0.5}
    command = [sys.executable, "-m", "sayso.server"]
    with child(command, os.environ, tmp_path / "log", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
        url = json.loads(read_line(process.stdout.fileno(), "the server's URL", 30))["url"]
        health_url = url.replace("ws://", "http://").replace("/v1/realtime", "/health")

        def health() -> dict[str, Any]:
            answer = httpx.get(health_url, trust_env=False, timeout=10)
            assert answer.status_code == 200
            return answer.json()

        def rests() -> bool:
            return health()["status"] == "idle" and not engine_pids(process.pid)

        async with websockets.connect(url, proxy=None, additional_headers=HEADERS) as socket:
            c = Client(socket)
            await c.choose("engine")
            before = (await spoken(c))[-1]["text"]
            assert before.split()[:2] == ["Ever", "tried."]
            wait_for(rests, "the engine to end", 60, 0.1)
            assert resident_bytes(process.pid) < MOST_SERVER_BYTES
            events = await spoken(c)
            states = [event["state"] for event in events if event["type"] == "sayso.engine"]
            assert states[-3:] == ["starting", "loading", "ready"]
            assert events[-1]["text"] == before
            wait_for(rests, "the engine to end again", 60, 0.1)
            print(f"server at rest: {resident_bytes(process.pid) / 2**20:.0f} MiB, {health()['engine']}")
    assert "Traceback" not in (tmp_path / "log").read_text()
