"""A real WebSocket server that behaves as vLLM's realtime endpoint does, with a model that reads words off the samples.

Every sample of word n has the value n, and a word is 100 ms long. Runs on the event loop of the test.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

WORD = 1600


def speech(first: int, count: int) -> NDArray[np.float32]:
    """Audio of the words ``first`` and following."""
    return (np.repeat(np.arange(first, first + count, dtype=np.float32), WORD) / 32767.0).astype(np.float32)


@dataclass
class VllmServer:
    """Serves one model; what tests need to see and to break."""

    model: str = "tiny"
    key: str = ""
    url: str = ""
    sessions: int = 0
    audio: list[list[int]] = field(default_factory=list)
    """The samples of each generation, over all sessions."""
    fail_at_word: int | None = None
    """Once this word is heard the generation fails, one time."""
    silent_from_word: int | None = None
    """From this word on nothing is said until it is cleared."""
    _open: set[ServerConnection] = field(default_factory=set)

    async def drop_all(self) -> None:
        """Break every connection without a closing handshake, as a network does."""
        for connection in list(self._open):
            connection.transport.abort()

    def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """The HTTP side: keys, models, and no such path."""
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return connection.respond(HTTPStatus.UNAUTHORIZED, '{"error":"Unauthorized"}')
        if request.path == "/v1/models":
            listing = {"object": "list", "data": [{"id": self.model, "object": "model"}]}
            return connection.respond(HTTPStatus.OK, json.dumps(listing))
        if request.path != "/v1/realtime":
            return connection.respond(HTTPStatus.NOT_FOUND, "Not Found")
        return None

    async def handle(self, connection: ServerConnection) -> None:
        self.sessions += 1
        self._open.add(connection)
        session = _Session(self, connection)
        try:
            await session.send({"type": "session.created", "id": f"sess-{self.sessions}", "created": 1})
            async for frame in connection:
                await session.take(json.loads(frame))
        except ConnectionClosed:
            return
        finally:
            self._open.discard(connection)
            await session.end()


class _Session:
    def __init__(self, server: VllmServer, connection: ServerConnection) -> None:
        self._server = server
        self._connection = connection
        self._queue: asyncio.Queue[list[int] | None] = asyncio.Queue()
        self._validated = False
        self._generation: asyncio.Task[None] | None = None

    async def send(self, event: dict[str, Any]) -> None:
        await self._connection.send(json.dumps(event))

    async def take(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "session.update", "model": model}:
                if model and model != self._server.model:
                    await self._error(f"The model `{model}` does not exist.", "model_not_found")
                else:
                    self._validated = True
            case {"type": "input_audio_buffer.append", "audio": audio}:
                await self._append(audio)
            case {"type": "input_audio_buffer.commit"}:
                await self._commit(bool(event.get("final")))
            case _:
                await self._error(f"Unknown event type {event.get('type')}", "unknown_event")

    async def end(self) -> None:
        if self._generation is not None:
            self._generation.cancel()
            await asyncio.gather(self._generation, return_exceptions=True)

    async def _append(self, audio: str) -> None:
        try:
            self._queue.put_nowait(np.frombuffer(base64.b64decode(audio), "<i2").tolist())
        except (ValueError, binascii.Error):
            await self._error("Invalid audio data", "invalid_audio")

    async def _commit(self, final: bool) -> None:
        if not self._validated:
            await self._error("Model not validated.", "model_not_validated")
        elif final:
            self._queue.put_nowait(None)
        elif self._generation is None or self._generation.done():
            self._generation = asyncio.create_task(self._generate())

    async def _generate(self) -> None:
        samples: list[int] = []
        self._server.audio.append(samples)
        said: list[str] = []
        while (piece := await self._queue.get()) is not None:
            samples += piece
            while len(samples) >= (len(said) + 1) * WORD:
                word = samples[len(said) * WORD]
                if word == self._server.fail_at_word:
                    self._server.fail_at_word = None
                    await self._error("", "processing_error")
                    return
                if self._server.silent_from_word is not None and word >= self._server.silent_from_word:
                    break
                said.append(f" w{word}")
                await self.send({"type": "transcription.delta", "delta": ""})
                await self.send({"type": "transcription.delta", "delta": said[-1]})
        while not self._queue.empty():
            self._queue.get_nowait()
        usage = {"prompt_tokens": 39, "total_tokens": 39, "completion_tokens": 0, "prompt_tokens_details": None}
        await self.send({"type": "transcription.done", "text": "".join(said), "usage": usage})

    async def _error(self, text: str, code: str) -> None:
        await self.send({"type": "error", "error": text, "code": code})


@asynccontextmanager
async def vllm_server(**options: Any) -> AsyncIterator[VllmServer]:
    """A running server on a free port of this machine."""
    server = VllmServer(**options)
    async with serve(server.handle, "127.0.0.1", 0, process_request=server.admit, compression=None) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        server.url = f"ws://127.0.0.1:{port}/v1/realtime"
        yield server
