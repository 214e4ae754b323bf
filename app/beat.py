"""One beat for all that is looked at now and then: a wake of an idle program costs far more than what it looks at."""

from __future__ import annotations

import asyncio


def until_beat_s(now_s: float, every_s: float) -> float:
    """Seconds until a clock that shows ``now_s`` next shows a multiple of ``every_s``; never 0."""
    return every_s - now_s % every_s


async def next_beat(every_s: float) -> None:
    """Sleep until the event loop's clock next shows a multiple of ``every_s``, at most so long.

    Whoever waits for the same beat, or for a multiple of it, wakes together.
    """
    await asyncio.sleep(until_beat_s(asyncio.get_running_loop().time(), every_s))
