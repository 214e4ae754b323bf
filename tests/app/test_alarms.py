"""Alarms are told when the clock says so, also one that jumped ahead, and in the order of their time."""

from __future__ import annotations

import asyncio
import time

import pytest

from sayso.app.alarms import Alarm, Alarms, clock


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_what_is_due_is_told_once_and_in_order() -> None:
    told: asyncio.Queue[Alarm] = asyncio.Queue()
    moved = Clock()
    alarms = Alarms(moved, longest_sleep_s=0.01)
    running = asyncio.create_task(alarms.run(told.put_nowait))
    try:
        late, soon = alarms.add("late", "timer", 3600), alarms.add("soon", "timer", 60)
        await asyncio.sleep(0.05)
        assert told.empty()

        moved.now = 7200  # As after a night in suspend.
        assert await asyncio.wait_for(told.get(), 10) == soon
        assert await asyncio.wait_for(told.get(), 10) == late
        assert alarms.pending() == ()
        assert told.empty()
    finally:
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_one_set_from_another_thread_is_told_in_time() -> None:
    told: asyncio.Queue[Alarm] = asyncio.Queue()
    alarms = Alarms()
    running = asyncio.create_task(alarms.run(told.put_nowait))
    try:
        await asyncio.sleep(0)
        alarm = await asyncio.to_thread(alarms.add, "now", "timer", 0.05)
        assert await asyncio.wait_for(told.get(), 10) == alarm
        assert not alarms.remove(alarm)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_one_that_was_removed_is_gone() -> None:
    alarms = Alarms(Clock())
    kept, removed = alarms.add("kept", "timer", 5), alarms.add("removed", "timer", 4)

    assert alarms.remove(removed)
    assert alarms.pending() == (kept,)
    assert alarms.left(kept) == 5


def test_the_clock_goes_on() -> None:
    before = clock()
    time.sleep(0.01)

    assert clock() > before
