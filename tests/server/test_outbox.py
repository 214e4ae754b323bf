"""Frames on their way to one client."""

from __future__ import annotations

import asyncio

from sayso.server.outbox import Outbox


async def test_frames_come_in_order_and_then_the_close() -> None:
    outbox = Outbox(100)
    assert outbox.put("a")
    assert outbox.put("b")
    outbox.close(1012)
    assert [await outbox.take(), await outbox.take(), await outbox.take()] == ["a", "b", None]
    assert outbox.close_code == 1012


async def test_a_client_that_does_not_read_is_noticed() -> None:
    outbox = Outbox(limit=4)
    assert outbox.put("abcd")
    assert not outbox.put("e")
    await outbox.take()
    assert outbox.put("e")


async def test_nothing_is_taken_after_the_close_and_the_first_code_counts() -> None:
    outbox = Outbox(100)
    outbox.close(1011)
    outbox.close(1012)
    assert not outbox.put("late")
    assert outbox.close_code == 1011


async def test_a_waiting_taker_wakes_up() -> None:
    outbox = Outbox(100)
    taker = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.put("a")
    assert await asyncio.wait_for(taker, 5) == "a"
