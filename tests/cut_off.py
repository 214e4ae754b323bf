"""A way between a client and a server that breaks off where a test wants: after so many bytes, in mid-frame."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Cut:
    """Where one connection breaks: after so many bytes up or down; None is never. ``silent``: the server hears nothing
    of it until its own end of the way is closed."""

    up: int | None = None
    down: int | None = None
    silent: bool = False


class Way:
    """Counts connections; ``url`` leads through it."""

    def __init__(self, cuts: Iterable[Cut]) -> None:
        self._cuts: Iterator[Cut] = iter(cuts)
        self.url = ""
        self.connections = 0
        self._target = ("", 0)
        self._writers: set[asyncio.StreamWriter] = set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        cut = next(self._cuts, Cut())
        self.connections += 1
        to_server, server = await asyncio.open_connection(*self._target)
        self._writers |= {writer, server}
        up = asyncio.create_task(_pump(reader, server, cut.up))
        down = asyncio.create_task(_pump(to_server, writer, cut.down))
        try:
            await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            writer.transport.abort()
            if not cut.silent:
                server.transport.abort()

    @contextlib.asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[Way]:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        listener = await asyncio.start_server(self.carry, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}{parts.path}"
        try:
            yield self
        finally:
            listener.close()
            for writer in self._writers:
                writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bound: int | None) -> None:
    left = bound
    with contextlib.suppress(OSError):
        while data := await reader.read(4096):
            part = data if left is None else data[:left]
            writer.write(part)
            await writer.drain()
            if left is not None:
                left -= len(part)
                if left <= 0:
                    return
