"""A server that gives every request one answer, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.app.realtime.endpoint import remote
from sayso.app.server_reports import ServerReports


@asynccontextmanager
async def answering(content: bytes) -> AsyncIterator[ServerReports]:
    """Reports of a server that answers so, whatever it is asked or told."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield ServerReports(remote(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"))
