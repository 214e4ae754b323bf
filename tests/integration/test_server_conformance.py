"""The real server with the real engine, seen from a client of vLLM's dialect.

The first tests are what vLLM's own tests of its realtime endpoint assert; then real speech at real-time pace, an
engine that is killed, and the memory that a closed session gives back.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jiwer
import numpy as np
import pytest
import websockets
from bounded import child, read_line, wait_for
from running_server import Client
from speech import recording, recording_text

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

KEY = "conformance"
CHUNK = 1600
"""Samples of 100 ms, as upstream's tests send them."""


@dataclass(frozen=True)
class RunningServer:
    url: str
    pid: int

    @property
    def health(self) -> dict[str, Any]:
        address = self.url.replace("ws://", "http://").replace("/v1/realtime", "/health")
        return httpx.get(address, trust_env=False, timeout=10).json()

    @property
    def engine_pid(self) -> int:
        return int(Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()[0])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The desktop's own server as a process, with a key, ready to transcribe."""
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "sayso.server"]
    with child(command, os.environ, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"port": 0, "key": KEY}).encode() + b"\n")
        process.stdin.flush()
        url = json.loads(read_line(process.stdout.fileno(), "the server's URL", 30))["url"]
        server = RunningServer(url, process.pid)
        wait_for(lambda: server.health["status"] == "ready", "the engine to be ready", 60, 0.2)
        yield server


@contextlib.asynccontextmanager
async def connected(running: RunningServer) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with websockets.connect(running.url, proxy=None, additional_headers=headers) as socket:
        yield Client(socket)


def pcm16(samples: np.ndarray) -> np.ndarray:
    return (samples * 32_767).astype("<i2")


async def send_chunks(c: Client, samples: np.ndarray, pace: float) -> None:
    """100 ms chunks; ``pace`` 1 is real time, 0 as fast as it goes."""
    pcm, began = pcm16(samples), time.monotonic()
    for start in range(0, len(pcm), CHUNK):
        audio = base64.b64encode(pcm[start : start + CHUNK].tobytes()).decode()
        await c.send("input_audio_buffer.append", audio=audio)
        if pace:
            await asyncio.sleep(max(0.0, began + (start + CHUNK) / 16_000 * pace - time.monotonic()))


async def collect(c: Client) -> list[tuple[float, dict[str, Any]]]:
    """Events up to done or error, each with when it came."""
    events = []
    while True:
        event = await c.next()
        events.append((time.monotonic(), event))
        if event["type"] in ("transcription.done", "error"):
            return events


async def transcribe(c: Client, samples: np.ndarray) -> str:
    await c.start()
    await send_chunks(c, samples, pace=0)
    await c.end()
    events = [event for _, event in await collect(c)]
    assert {event["type"] for event in events} <= {"transcription.delta", "transcription.done"}
    assert events[-1]["text"] == "".join(event["delta"] for event in events[:-1])
    return events[-1]["text"]


def words(text: str) -> str:
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower()).split())


def wrong_words(said: str, heard: str) -> int:
    measured = jiwer.process_words(words(said), words(heard) or "-")
    return measured.substitutions + measured.deletions + measured.insertions


# What upstream's tests assert.


async def test_multi_chunk_streaming_after_a_warm_up_on_the_same_connection(running: RunningServer) -> None:
    said = recording_text("beckett")
    async with connected(running) as c:
        await c.expect("session.created")
        await c.send("session.update", model="tiny.en")
        await c.expect("session.updated")
        await transcribe(c, recording("beckett"))
        assert wrong_words(said, await transcribe(c, recording("beckett"))) <= 1


async def test_an_empty_commit_does_not_crash_the_engine(running: RunningServer) -> None:
    async with connected(running) as c:
        await c.choose()
        await c.start()
        await c.end()
        assert (await c.next())["type"] in ("error", "transcription.delta", "transcription.done")
    async with connected(running) as c:
        await c.choose()
        assert wrong_words(recording_text("beckett"), await transcribe(c, recording("beckett"))) <= 1
    assert running.health["engine"]["restarts"] == 0


async def test_a_wrong_model_is_named_in_the_error(running: RunningServer) -> None:
    async with connected(running) as c:
        await c.expect("session.created")
        await c.send("session.update", model="no-such-model")
        error = await c.expect("error")
        assert "no-such-model" in error["error"]
        assert error["code"] == "model_not_found"


async def test_a_commit_without_session_update_is_an_error(running: RunningServer) -> None:
    async with connected(running) as c:
        await c.expect("session.created")
        await c.end()
        assert (await c.expect("error"))["code"] == "model_not_validated"


# Real speech at real-time pace.


async def test_speech_at_its_own_pace_gives_words_while_it_is_spoken(running: RunningServer) -> None:
    async with connected(running) as c:
        await c.choose()
        await c.start()
        collecting = asyncio.create_task(collect(c))
        await send_chunks(c, recording("beckett"), pace=1.0)
        ended = time.monotonic()
        await c.end()
        events = await collecting
    kinds = [event["type"] for _, event in events]
    assert set(kinds) == {"transcription.delta", "transcription.done"}
    done = events[-1][1]
    deltas = [(at, event["delta"]) for at, event in events[:-1]]
    assert done["text"] == "".join(delta for _, delta in deltas)
    assert wrong_words(recording_text("beckett"), done["text"]) <= 1
    early = "".join(delta for at, delta in deltas if at < ended)
    assert len(early.split()) >= 6, f"only {early!r} came while it was spoken"
    assert done["usage"]["completion_tokens"] > 0


async def test_silence_gives_no_words_and_nothing_that_was_said_before(running: RunningServer) -> None:
    """vLLM #51374 and #51376: a second utterance, or a silence, repeats the transcript before it."""
    async with connected(running) as c:
        await c.choose()
        said = await transcribe(c, recording("beckett")[: 16_000 * 3])
        assert "ever tried" in words(said)
        assert await transcribe(c, np.zeros(16_000 * 12, np.float32)) == ""
        assert await transcribe(c, recording("beckett")[: 16_000 * 3]) == said


async def test_two_clients_at_once_are_both_served(running: RunningServer) -> None:
    async with connected(running) as one, connected(running) as two:
        await one.choose()
        await two.choose()
        texts = await asyncio.gather(transcribe(one, recording("beckett")), transcribe(two, recording("beckett")))
    assert [wrong_words(recording_text("beckett"), text) <= 1 for text in texts] == [True, True]


async def test_word_times_and_markers_lie_within_the_audio(running: RunningServer) -> None:
    samples = recording("beckett")
    length_ms = len(samples) / 16
    async with connected(running) as c:
        await c.choose("words", "marker", "speech")
        await c.start()
        await send_chunks(c, samples, pace=0)
        await c.end()
        events = [event for _, event in await collect(c)]
    times = [w for event in events if event["type"] == "sayso.words" for w in event["words"]]
    assert "".join(word["text"] for word in times) == events[-1]["text"]
    assert all(0 <= word["start_ms"] <= word["end_ms"] <= length_ms for word in times)
    markers = [event["audio_ms"] for event in events if event["type"] == "sayso.marker"]
    assert markers == sorted(set(markers))
    assert markers[-1] <= length_ms
    assert {event["kind"] for event in events if event["type"] == "sayso.speech"} == {"start", "stop"}


# Faults.


async def test_a_client_that_leaves_in_mid_speech_leaves_nothing_behind(running: RunningServer) -> None:
    async with connected(running) as c:
        await c.choose()
        await c.start()
        await send_chunks(c, recording("beckett")[: 16_000 * 3], pace=0)
        c.socket.transport.abort()
    wait_for(lambda: running.health["sessions"] == 0, "the session to be gone")
    async with connected(running) as c:
        await c.choose()
        assert wrong_words(recording_text("beckett"), await transcribe(c, recording("beckett"))) <= 1


async def test_an_engine_killed_in_mid_utterance_costs_no_word_of_it_or_of_the_next(running: RunningServer) -> None:
    speech = recording("beckett")
    async with connected(running) as c:
        await c.choose()
        await c.start()
        await send_chunks(c, speech[: 16_000 * 4], pace=0)
        await c.expect("transcription.delta")
        os.kill(running.engine_pid, signal.SIGKILL)
        # The engine is still loading: the audio waits for it.
        await send_chunks(c, speech[16_000 * 4 :], pace=0)
        await c.end()
        await c.start()
        await send_chunks(c, speech, pace=0)
        await c.end()
        async with asyncio.timeout(60):
            for _ in range(2):
                assert wrong_words(recording_text("beckett"), await next_done(c)) <= 1
    assert running.health["engine"]["restarts"] == 1


async def next_done(c: Client) -> str:
    while True:
        event = json.loads(await c.socket.recv(decode=True))
        assert event["type"] != "error", event
        if event["type"] == "transcription.done":
            return event["text"]
