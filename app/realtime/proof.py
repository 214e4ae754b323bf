"""Whether an open connection still lives, asked for at once: after a suspend TCP would notice only minutes later.

Runs on the event loop, beside the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import NoReturn, Protocol

_ANSWER_S = 4.0


class Pinged(Protocol):
    """A WebSocket."""

    async def ping(self) -> Awaitable[float]:
        """Send a ping; what it gives is done when its answer has come."""


class Proof:
    """``ask`` may be called at any time, by whoever doubts; ``given`` runs beside the open connection."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Find out now whether the connection lives."""
        self._asked.set()

    async def given(self, socket: Pinged) -> NoReturn:
        """Answer every question about this connection; TimeoutError when it does not live."""
        self._asked.clear()
        while True:
            await self._asked.wait()
            self._asked.clear()
            async with asyncio.timeout(_ANSWER_S):
                await (await socket.ping())
