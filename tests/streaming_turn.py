"""One turn through a realtime server in vLLM's order: update, commit, 80 ms appends, final commit, until done."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import websockets

SAMPLE_RATE = 16_000
PORTION = 1280


@dataclass
class StreamedTurn:
    """What came back, with seconds since the first append."""

    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    audio_ended: float = 0.0
    done: float = 0.0

    @property
    def deltas(self) -> list[tuple[float, str]]:
        return [(at, event["delta"]) for at, event in self.events if event["type"] == "transcription.delta"]

    @property
    def final(self) -> dict[str, Any]:
        """The last event: done, or the error that ended the turn."""
        return self.events[-1][1]

    @property
    def tokens(self) -> int:
        return int((self.final.get("usage") or {}).get("completion_tokens", 0))


async def stream_turn(
    url: str, pcm: np.ndarray, model: str, *, live: bool, after: float = 0.0, limit_s: float = 600.0, key: str = ""
) -> StreamedTurn:
    """Send int16 samples, at real-time pace if ``live``, and collect all events until the turn's last one."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with websockets.connect(url, proxy=None, max_size=None, additional_headers=headers) as socket:
        await socket.recv()
        await socket.send(json.dumps({"type": "session.update", "model": model}))
        await socket.send(json.dumps({"type": "input_audio_buffer.commit"}))
        await asyncio.sleep(after)
        turn, began = StreamedTurn(), time.monotonic()
        reader = asyncio.create_task(_collect(socket, turn, began))
        for at in range(0, len(pcm), PORTION):
            audio = base64.b64encode(pcm[at : at + PORTION].astype("<i2").tobytes()).decode()
            await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": audio}))
            if live:
                due = min(len(pcm), at + PORTION) / SAMPLE_RATE - (time.monotonic() - began)
                await asyncio.sleep(max(0.0, due))
        turn.audio_ended = time.monotonic() - began
        await socket.send(json.dumps({"type": "input_audio_buffer.commit", "final": True}))
        await asyncio.wait_for(reader, limit_s)
        turn.done = turn.events[-1][0]
        return turn


async def _collect(socket: websockets.ClientConnection, turn: StreamedTurn, began: float) -> None:
    async for text in socket:
        event = json.loads(text)
        if event["type"] not in ("session.updated",):
            turn.events.append((time.monotonic() - began, event))
        if event["type"] in ("transcription.done", "error"):
            return
