"""A bell that one thread rings and the event loop hears."""

from __future__ import annotations

import asyncio
import threading

from sayso.app.audio.bell import Bell


async def test_what_another_thread_rings_the_loop_hears() -> None:
    bell = Bell()
    threading.Thread(target=bell.ring).start()
    async with asyncio.timeout(15):
        await bell.wait()


def test_a_thread_that_rings_after_the_loop_has_ended_does_no_harm() -> None:
    async def made() -> Bell:
        return Bell()

    asyncio.run(made()).ring()
