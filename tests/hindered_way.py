"""A way between a client and a server that can be hindered: dropped, closed, stalled, slowed. For tests that wait.

It carries TCP on an event loop in a thread of its own; its methods are for the test's thread and return when done.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 20.0
"""Bound of each call."""
_PIECE = 4096


class HinderedWay:
    """``url`` leads to the server; ``delay_s`` is how much later everything comes, in each direction."""

    def __init__(self, target: str) -> None:
        """``target`` is the WebSocket address of the server."""
        self._parts = urlsplit(target)
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        self.delay_s = 0.0
        self._forgotten = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"ws://{self.host}{self._parts.path}"

    def drop(self) -> None:
        """Break every connection, without a word to either end."""
        self._do(self._drop())

    def forget(self) -> None:
        """Carry nothing more on the connections of now, without a word; new ones are carried.

        That is what a suspend does to them, once a router has forgotten them.
        """
        self._forgotten = self.connections

    def refuse(self) -> None:
        """Break every connection and take no new one, as a machine does on which nothing listens."""
        self._do(self._refuse())

    def accept(self) -> None:
        """Take connections again, at the same port."""
        self._do(self._accept())

    def stall(self) -> None:
        """Keep all connections and carry nothing; both ends can write until their buffers are full."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def flow(self) -> None:
        """Carry again, what has waited first."""
        self._loop.call_soon_threadsafe(self._flowing.set)

    @contextlib.contextmanager
    def open(self) -> Iterator[HinderedWay]:
        thread = threading.Thread(target=self._loop.run_forever, name="hindered way")
        thread.start()
        try:
            self.accept()
            yield self
        finally:
            with contextlib.suppress(TimeoutError):
                self._do(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(_SECONDS)
            self._loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    async def _accept(self) -> None:
        self._listener = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = None
        await self._drop()

    async def _drop(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _end(self) -> None:
        await self._refuse()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            from_server, server = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, server}
        self._writers |= both
        ways = ((reader, server), (from_server, writer))
        pumps = [asyncio.create_task(self._pump(number, *each)) for each in ways]
        self._tasks |= {*pumps}
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._tasks -= {*pumps}
            for each in both:
                each.transport.abort()
            self._writers -= both

    async def _pump(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while True:
                await self._flowing.wait()
                if not (data := await reader.read(_PIECE)):
                    return
                await self._flowing.wait()
                if number <= self._forgotten:
                    continue
                if self.delay_s:
                    # Not slept here: a delay must not become a limit of how much is carried.
                    self._loop.call_later(self.delay_s, writer.write, data)
                else:
                    writer.write(data)
                    await writer.drain()
