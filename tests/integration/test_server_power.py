"""On battery and when memory is scarce the real engine gives its memory back, and speech brings it back whole.

The server reads what the machine runs on and how scarce memory is from files, as it does for users; a test writes them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from played_machine import PlayedMachine
from running_server import eventually, server
from served_days import DayClock, Keeper
from session_callers import REPLY_S, Caller
from speech import pcm16, recording

from sayso.server.config import ServerConfig
from sayso.server.idle import PRESSED_S
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

FIRST_S, LATER_S = 60.0, 30_000.0


async def gone(pid: int) -> None:
    """The process is no more, and with it all of its memory."""
    await eventually(lambda: not psutil.pid_exists(pid), REPLY_S)


async def test_the_engine_ends_on_battery_and_when_memory_is_scarce_and_no_word_is_lost(tmp_path: Path) -> None:
    machine, clock = PlayedMachine(tmp_path), DayClock()
    config = ServerConfig(port=0, threads=1, engine_end_on_battery_after_s=FIRST_S, engine_end_at_pressure=20)
    settings = replace(machine.around(engine_settings(config)), clock=clock)
    spoken = pcm16(recording("beckett")[:32_000])
    async with server(settings, config) as url:
        keeper, caller = Keeper(url), Caller(url)
        await caller.connect()
        expected = await caller.utterance(spoken)
        assert expected.split()[:2] == ["Ever", "tried."]

        first = await keeper.until_engine("ready")
        clock.now_s += LATER_S
        assert not (await keeper.health())["engine"]["on_battery"]
        assert psutil.pid_exists(first)
        machine.plug(False)
        # The plug is looked at every few seconds.
        clock.now_s += FIRST_S
        assert await keeper.until_engine("idle") in (0, first)
        await gone(first)
        assert (await keeper.health())["engine"]["on_battery"]
        assert await caller.utterance(spoken) == expected

        second = await keeper.until_engine("ready")
        machine.plug(True)
        await caller.start()
        await caller.speak(spoken)
        machine.press(35.0)
        clock.now_s += LATER_S
        assert await caller.end() == expected
        assert await keeper.until_engine("ready") == second
        clock.now_s += PRESSED_S
        await keeper.until_engine("idle")
        await gone(second)
        assert await caller.utterance(spoken) == expected
        counts = await keeper.counts()
        assert (counts["sayso_engine_ends_total"], counts["sayso_engine_restarts_total"]) == (2, 0)
        await caller.leave()
        await keeper.close()
