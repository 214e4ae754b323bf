"""When a connection rests: closed because nobody has spoken for long enough, and opened again by speech. Event loop.

A server keeps memory for every open connection, and one that is not ours tells nothing of it: closing is all that a
client can do there. Nothing is lost by it, since the uplink keeps what is said until there is a connection again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import NoReturn

from sayso.app.realtime.errors import RealtimeError

RESTED = ("rested", "idle_timeout", "session_closed")
"""Faults after which the connection stays closed until somebody speaks; the last two are a server's."""


class Rest:
    """One connection's rest: ``due`` runs beside the open connection, ``over`` in place of it."""

    def __init__(self, nothing_open: Callable[[], bool]) -> None:
        """``nothing_open`` tells that no utterance is being said or waits for its text or an engine."""
        self._nothing_open = nothing_open
        self._after_s = 0.0
        self._disturbed_s = 0.0
        self._wanted = False
        self._stirred = asyncio.Event()
        self._roused = asyncio.Event()

    @property
    def quiet(self) -> bool:
        """Whether nothing is open and nobody is about to speak."""
        return self._nothing_open() and not self._roused.is_set()

    def after(self, seconds: float) -> None:
        """Rest after so many seconds without speech from now on; 0 is never."""
        self._after_s = seconds
        self._stirred.set()

    def now(self) -> None:
        """Rest as soon as nothing is open."""
        self._wanted = True
        self._stirred.set()

    def disturb(self) -> None:
        """Somebody speaks or is about to: end the rest, or put it off."""
        self._put_off()
        self._roused.set()

    def settle(self) -> None:
        """All that was said has its text: the time without speech begins."""
        self._put_off()
        self._roused.clear()

    def _put_off(self) -> None:
        self._disturbed_s = asyncio.get_running_loop().time()
        self._stirred.set()

    async def due(self) -> NoReturn:
        """Wait until a rest is due, and raise RealtimeError ``rested`` then; deciding it and raising are one step."""
        self._put_off()
        while True:
            self._stirred.clear()
            wait_s = self._wait_s()
            if wait_s is not None and wait_s <= 0:
                self._wanted = False
                self._roused.clear()
                raise RealtimeError("rested", "Nobody has spoken for a while.")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stirred.wait()

    async def over(self) -> None:
        """Wait until somebody speaks."""
        await self._roused.wait()

    def _wait_s(self) -> float | None:
        if not self._nothing_open():
            return None
        if self._wanted:
            return 0.0
        if not self._after_s:
            return None
        return self._disturbed_s + self._after_s - asyncio.get_running_loop().time()
