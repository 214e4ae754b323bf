"""Frames on their way to one client: bounded, so that a client that does not read cannot fill the memory."""

from __future__ import annotations

import asyncio
from collections import deque


class Outbox:
    """Filled by the session without waiting, emptied by the connection's sending task. One event loop owns it."""

    def __init__(self, limit: int) -> None:
        """``limit``: characters that may wait."""
        self._limit = limit
        self._frames: deque[str] = deque()
        self._size = 0
        self._wake = asyncio.Event()
        self.closing = asyncio.Event()
        self.close_code: int | None = None
        """How the connection is to be closed after the last frame, once that is known."""

    def put(self, frame: str) -> bool:
        """Queue a frame; false when the client is too far behind or the outbox is closing."""
        if self.close_code is not None or self._size + len(frame) > self._limit:
            return False
        self._frames.append(frame)
        self._size += len(frame)
        self._wake.set()
        return True

    def close(self, code: int) -> None:
        """Close after what is queued; the first code counts."""
        if self.close_code is None:
            self.close_code = code
            self.closing.set()
            self._wake.set()

    async def take(self) -> str | None:
        """The next frame, or None when the connection is to be closed."""
        while not self._frames:
            if self.close_code is not None:
                return None
            self._wake.clear()
            await self._wake.wait()
        frame = self._frames.popleft()
        self._size -= len(frame)
        return frame
