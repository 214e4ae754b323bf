"""A real server with a real child process for the tests of the socket: started in the test's own event loop."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import websockets
from websockets.asyncio.client import ClientConnection

from sayso.server.config import ServerConfig
from sayso.server.engine_settings import EngineSettings
from sayso.server.run import run

SCRIPT = Path(__file__).parent / "server" / "scripted_engine.py"
BOUND_S = 15.0
"""No wait of a test is longer."""


def scripted(*arguments: object, silence_s: float = 30.0, model: str = "auto") -> EngineSettings:
    command = (sys.executable, str(SCRIPT), *(str(argument) for argument in arguments))
    return EngineSettings(model=model, command=command, silence_s=silence_s)


@contextlib.asynccontextmanager
async def server(
    settings: EngineSettings | None = None, config: ServerConfig | None = None, *, once_ready: bool = True
) -> AsyncIterator[str]:
    """The URL of a running server; it is stopped at the end, and that it stops in time is checked."""
    settings = settings or scripted()
    config = config or ServerConfig(port=0, model=settings.model)
    urls: asyncio.Queue[str] = asyncio.Queue()
    stop = asyncio.Event()
    task = asyncio.create_task(run(config, urls.put_nowait, once_ready=once_ready, stop=stop, settings=settings))
    first = asyncio.create_task(urls.get())
    await asyncio.wait([task, first], return_when=asyncio.FIRST_COMPLETED, timeout=BOUND_S)
    if task.done():
        first.cancel()
        task.result()
    try:
        yield await asyncio.wait_for(first, BOUND_S)
    finally:
        stop.set()
        await asyncio.wait_for(task, BOUND_S)


class Client:
    """A plain WebSocket client with events as dictionaries."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(msgspec.json.encode({"type": kind, **fields}).decode())

    async def next(self, bound_s: float = BOUND_S) -> dict[str, Any]:
        text = await asyncio.wait_for(self.socket.recv(decode=True), bound_s)
        return msgspec.json.decode(text)

    async def expect(self, kind: str) -> dict[str, Any]:
        event = await self.next()
        assert event["type"] == kind, event
        return event

    async def until(self, kind: str, most: int = 1000) -> list[dict[str, Any]]:
        """All events up to the first of this kind, which is the last one."""
        events = [await self.next()]
        while events[-1]["type"] != kind:
            assert len(events) < most
            events.append(await self.next())
        return events

    async def choose(self, *wishes: str, model: str = "auto", **fields: Any) -> dict[str, Any]:
        """Take the greeting, choose the model and ask for Sayso's events."""
        await self.expect("session.created")
        await self.send("session.update", model=model, sayso={"events": list(wishes)}, **fields)
        return await self.expect("session.updated")

    async def audio(self, seconds: float) -> None:
        await self.send("input_audio_buffer.append", audio=silence(seconds))

    async def words(self, *numbers: int) -> None:
        """Half a second for each, in which an engine that ``hears`` hears this word."""
        for number in numbers:
            await self.send("input_audio_buffer.append", audio=word(number))

    async def start(self) -> None:
        await self.send("input_audio_buffer.commit", final=False)

    async def end(self) -> None:
        await self.send("input_audio_buffer.commit", final=True)

    async def transcribe(self, seconds: float) -> str:
        """One whole turn; the text of its ``done``, which is checked against its deltas."""
        await self.start()
        await self.audio(seconds)
        await self.end()
        events = await self.until("transcription.done")
        deltas = [event["delta"] for event in events if event["type"] == "transcription.delta"]
        assert events[-1]["text"] == "".join(deltas)
        return events[-1]["text"]


@contextlib.asynccontextmanager
async def client(url: str, **options: Any) -> AsyncIterator[Client]:
    async with websockets.connect(url, proxy=None, max_size=None, **options) as socket:
        yield Client(socket)


async def ask(url: str, method: str, path: str, **options: Any) -> httpx.Response:
    """One request to the HTTP side of the server with this WebSocket URL."""
    base = url.replace("ws://", "http://").removesuffix("/v1/realtime")
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.request(method, base + path, **options)


def silence(seconds: float) -> str:
    return base64.b64encode(bytes(2 * round(seconds * 16_000))).decode()


def word(number: int) -> str:
    """0.4 s that the scripted engine hears as this word, and a pause."""
    return base64.b64encode(number.to_bytes(2, "little") * 6_400 + bytes(2 * 1_600)).decode()


async def eventually(condition: Callable[[], bool], seconds: float = BOUND_S) -> None:
    """Wait, bounded, for something that another process or task does."""
    async with asyncio.timeout(seconds):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


async def eventually_shown(url: str, matches: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The server's list of sessions, as soon as it is like this; bounded."""
    async with asyncio.timeout(BOUND_S):
        while True:
            data = (await ask(url, "GET", "/v1/sessions")).json()["data"]
            if matches(data):
                return data
            await asyncio.sleep(0.01)
