"""A server that gives every request one answer, over a real socket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sayso.app.realtime.endpoint import remote
from sayso.app.server_reports import ServerReports


@asynccontextmanager
async def answering(content: bytes) -> AsyncIterator[ServerReports]:
    """Reports of a server that answers so, whatever it is asked or told."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        # Whatever is left unread when we hang up would reset the connection, and the answer might be lost with it.
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield ServerReports(remote(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"))
