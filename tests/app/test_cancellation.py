"""Tasks end, also one that loses a cancel."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from sayso.app import cancellation
from sayso.app.cancellation import cancel


async def forgetful(lost: int) -> None:
    """Loses so many cancels, as a library does in which one comes together with a result."""
    for _ in range(lost):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
    await asyncio.sleep(3600)


async def faulty() -> None:
    try:
        await asyncio.sleep(3600)
    finally:
        raise RuntimeError("while it ended")


async def test_all_have_ended_whether_they_lose_cancels_fail_or_were_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "_AGAIN_S", 0.01)
    over = asyncio.create_task(asyncio.sleep(0))
    tasks = [asyncio.create_task(work) for work in (forgetful(0), forgetful(3), faulty())]
    await asyncio.sleep(0)
    await over
    async with asyncio.timeout(15):
        await cancel(*tasks, over)
    assert all(task.done() for task in tasks)
    assert [task.cancelled() for task in tasks] == [True, True, False]
    assert isinstance(tasks[2].exception(), RuntimeError)


async def test_none_are_ended_at_once() -> None:
    await cancel()
