"""Whoever waits for the same beat wakes in the same moment, whenever it began to wait."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.beat import next_beat, until_beat_s


@given(st.floats(0.0, 1e5), st.floats(0.05, 60.0))
def test_a_beat_is_a_multiple_and_comes_within_its_time(now_s: float, every_s: float) -> None:
    waits_s = until_beat_s(now_s, every_s)
    assert 0.0 < waits_s <= every_s
    beats = (now_s + waits_s) / every_s
    assert beats == pytest.approx(round(beats), abs=1e-4)


async def test_it_sleeps_until_then() -> None:
    loop = asyncio.get_running_loop()
    before = int(loop.time() / 0.05)
    await next_beat(0.05)
    # A timer may fire a tick of the clock early.
    assert loop.time() / 0.05 > before + 0.9
