"""What a thread of the sound system rings for the event loop."""

from __future__ import annotations

import asyncio
import contextlib


class Bell(asyncio.Event):
    """An event of the loop that runs where it is made, which another thread may set."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Set it; on any thread."""
        # A thread may outlive the loop by a block.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.set)
