"""Clients of the server as people are: they speak, fall silent, lose their connection and come back. Event loop."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import msgspec
import websockets
from websockets.asyncio.client import ClientConnection

REPLY_S = 120.0
"""Within which the real engine answers on a machine that does other things too, its start included."""
PIECE_BYTES = 6_400
"""Of one append: 0.2 s."""


class Caller:
    """One client with one session, which outlives its connections; audio goes as fast as the socket takes it.

    It asks for no events that are told only once they are still true, so that it can count what it heard.
    """

    def __init__(self, url: str, model: str = "auto", key: str = "") -> None:
        self._url, self._model = url, model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._socket: ClientConnection | None = None
        self._token = ""
        self._heard = 0
        self._said: list[tuple[str, dict[str, Any]]] = []
        self._text = ""
        self.session = ""
        """The server's name of the session."""

    async def connect(self) -> None:
        """The first connection, or another one that takes the session up where it was."""
        self._socket = await websockets.connect(
            self._url,
            additional_headers=self._headers,
            proxy=None,
            max_size=None,
            # What stays unread must not hold up the answer to our closing, which would then be waited for in vain.
            max_queue=None,
            compression=None,
            open_timeout=REPLY_S,
            ping_interval=None,
        )
        created = await self._next()
        resume = {"resume": self._token, "heard": self._heard} if self._token else {}
        await self._put("session.update", model=self._model, sayso={"events": [], "resumable": True, **resume})
        event = await self._next()
        while event["type"] == "session.updated":
            event = await self._next()
        if not self._token:
            assert event["type"] == "sayso.resumable", event
            self._token, self.session = event["token"], created["id"]
            return
        assert (event["type"], event["id"]) == ("sayso.resumed", self.session), event
        for kind, fields in self._said[event["received"] :]:
            await self._put(kind, **fields)

    async def start(self) -> None:
        self._text = ""
        await self._say("input_audio_buffer.commit", final=False)

    async def speak(self, pcm: bytes) -> None:
        """16-bit samples of the open turn."""
        for at in range(0, len(pcm), PIECE_BYTES):
            audio = base64.b64encode(pcm[at : at + PIECE_BYTES]).decode()
            await self._say("input_audio_buffer.append", audio=audio)

    async def end(self) -> str:
        """End the turn; its text, which its deltas make up whatever happened meanwhile."""
        await self._say("input_audio_buffer.commit", final=True)
        return await self.text()

    async def text(self) -> str:
        """The text of a turn that ends."""
        while (event := await self._counted())["type"] != "transcription.done":
            assert event["type"] != "error" or event["code"] == "session_closed", event
        assert event["text"] == self._text
        return str(event["text"])

    async def utterance(self, pcm: bytes) -> str:
        """A whole turn."""
        await self.start()
        await self.speak(pcm)
        return await self.end()

    async def closed(self) -> int | None:
        """The close code of a connection that the server closes."""
        assert self._socket is not None
        async with asyncio.timeout(REPLY_S):
            await self._socket.wait_closed()
        return self._socket.close_code

    async def leave(self) -> None:
        """Close in order."""
        assert self._socket is not None
        await self._socket.close()

    async def vanish(self) -> None:
        """Lose the connection."""
        assert self._socket is not None
        self._socket.transport.abort()
        await self._socket.wait_closed()

    async def _say(self, kind: str, **fields: Any) -> None:
        self._said.append((kind, fields))
        await self._put(kind, **fields)

    async def _put(self, kind: str, **fields: Any) -> None:
        assert self._socket is not None
        await self._socket.send(msgspec.json.encode({"type": kind, **fields}).decode())

    async def _counted(self) -> dict[str, Any]:
        event = await self._next()
        self._heard += 1
        if event["type"] == "transcription.delta":
            self._text += event["delta"]
        return event

    async def _next(self) -> dict[str, Any]:
        assert self._socket is not None
        async with asyncio.timeout(REPLY_S):
            event: dict[str, Any] = msgspec.json.decode(await self._socket.recv(decode=True))
        return event


async def fresh_text(url: str, pcm: bytes, model: str = "auto") -> str:
    """The text of one turn of a session of its own that is never put away."""
    caller = Caller(url, model)
    await caller.connect()
    text = await caller.utterance(pcm)
    await caller.leave()
    return text
