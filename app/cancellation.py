"""Ends tasks for certain. Event loop."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_S = 5.0
"""Longer than anybody's own clean-up may take, which another cancel would cut short."""


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and return when all of them have ended, however they did.

    Each is cancelled again where that was lost: before Python 3.12 ``asyncio.wait_for``, which libraries use, loses a
    cancel that comes together with a result. Whoever cannot wait for a task that refuses to end bounds this.
    """
    waiting = {task for task in tasks if not task.done()}
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=_AGAIN_S)
    for task in tasks:
        # Looked at, so that a failure is not told as one that nobody saw; whoever wants it has the task.
        if not task.cancelled():
            task.exception()
