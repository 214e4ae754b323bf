"""An engine that nobody uses gives its memory back and is there again for the next speech: real sockets and child."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path

import pytest
from played_machine import PlayedMachine
from running_server import BOUND_S, Client, client, eventually, scripted, server
from supervised_engine import alive, engine, engine_pid

from sayso.engine.messages import Retention
from sayso.server.engine_rest import EngineRest
from sayso.server.engine_settings import EngineSettings
from sayso.server.idle import PRESSED_S, IdleSettings


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def resting(clock: Clock, *arguments: object, **after: float) -> EngineSettings:
    return dataclasses.replace(scripted(*arguments), idle=IdleSettings(**after), clock=clock)


async def engine_states(c: Client, last: str) -> list[str]:
    """What the client hears of the engine up to this state."""
    states = [(await c.expect("sayso.engine"))["state"]]
    while states[-1] != last:
        states.append((await c.expect("sayso.engine"))["state"])
    return states


async def test_an_engine_that_nobody_uses_ends_and_the_next_speech_loses_no_word() -> None:
    clock = Clock()
    async with server(resting(clock, end_after_s=60)) as url, client(url) as c:
        await c.choose("engine")
        assert await engine_states(c, "ready") == ["ready"]
        assert await c.transcribe(1.0) == "w0 w1"
        pid = await engine_pid(url)
        clock.now_s = 61
        assert await engine_states(c, "idle") == ["idle"]
        await eventually(lambda: not alive(pid))
        await c.start()
        await c.audio(2.25)
        await c.end()
        events = await c.until("transcription.done")
        assert [e["state"] for e in events if e["type"] == "sayso.engine"] == ["starting", "loading", "ready"]
        assert events[-1]["text"] == "w0 w1 w2 w3 w4"
        assert await engine_pid(url) != pid


async def test_an_engine_without_weights_stays_and_loads_them_for_the_next_speech(tmp_path: Path) -> None:
    clock, log = Clock(), tmp_path / "log"
    async with server(resting(clock, "--log", log, unload_after_s=60)) as url, client(url) as c:
        await c.choose("engine")
        await c.expect("sayso.engine")
        assert await c.transcribe(0.5) == "w0"
        pid = await engine_pid(url)
        clock.now_s = 61
        assert await engine_states(c, "idle") == ["idle"]
        await c.audio(1.0)
        assert await engine_states(c, "ready") == ["loading", "ready"]
        await c.start()
        await c.end()
        assert (await c.until("transcription.done"))[-1]["text"] == "w0 w1"
        assert await engine_pid(url) == pid
        kinds = [line.split()[0] for line in log.read_text().splitlines()]
        assert [kind for kind in kinds if kind in ("Load", "Unload")] == ["Load", "Unload", "Load"]


async def test_an_open_turn_keeps_the_engine_however_long_it_lasts() -> None:
    clock = Clock()
    async with server(resting(clock, end_after_s=60)) as url, client(url) as c, client(url) as other:
        await c.choose()
        await other.choose("engine")
        await other.expect("sayso.engine")
        await c.start()
        await c.audio(0.5)
        await c.expect("transcription.delta")
        pid = await engine_pid(url)
        clock.now_s = 10_000
        await c.audio(0.5)
        await c.expect("transcription.delta")
        await c.end()
        assert (await c.expect("transcription.done"))["text"] == "w0 w1"
        assert alive(pid)
        clock.now_s = 20_000
        assert await engine_states(other, "idle") == ["idle"]


def test_a_turn_that_is_open_counts_as_use_until_it_is_over() -> None:
    clock = Clock()
    rest = EngineRest(resting(clock, end_after_s=60))
    clock.now_s = 100.0
    assert rest.due(busy=True) == "keep"
    clock.now_s = 159.0
    assert rest.due(busy=False) == "keep"
    clock.now_s = 160.0
    assert rest.due(busy=False) == "end"


async def test_scarce_memory_ends_an_engine_that_nobody_uses_and_speech_brings_it_back(tmp_path: Path) -> None:
    clock, machine = Clock(), PlayedMachine(tmp_path)
    settings = machine.around(resting(clock, end_at_pressure=20))
    async with server(settings) as url, client(url) as c, client(url) as other:
        await c.choose("engine")
        assert await engine_states(c, "ready") == ["ready"]
        await other.choose()
        await other.start()
        await other.audio(0.5)
        await other.expect("transcription.delta")
        machine.press(40.0)
        clock.now_s = 100
        await other.audio(0.5)
        assert (await other.expect("transcription.delta"))["delta"] == " w1"
        await other.end()
        await other.expect("transcription.done")
        clock.now_s = 100 + PRESSED_S
        assert await engine_states(c, "idle") == ["idle"]
        assert await other.transcribe(0.5) == "w0"
        assert await engine_states(c, "ready") == ["starting", "loading", "ready"]
        assert alive(await engine_pid(url))


async def test_on_battery_the_engine_rests_sooner_and_only_while_it_lasts(tmp_path: Path) -> None:
    clock, machine = Clock(), PlayedMachine(tmp_path)
    settings = machine.around(resting(clock, end_after_s=600, end_on_battery_after_s=60))
    async with engine(settings) as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        clock.now_s = 61
        assert not started.status.on_battery
        machine.plug(False)
        clock.now_s = 67
        await eventually(lambda: listener.states[-1] == "idle")
        assert started.status.on_battery
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")
        machine.plug(True)
        clock.now_s = 67 + 599
        assert not started.status.on_battery
        clock.now_s = 67 + 600
        await eventually(lambda: listener.states[-1] == "idle")
        assert started.status.ends == 2


async def test_how_long_a_start_and_a_reload_take_is_told_apart() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        first = started.status
        assert first.start_ms > first.reload_ms == 0
        assert started.give_back(end=False)
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")
        assert started.status.start_ms == first.start_ms
        assert started.status.startup_ms == started.status.reload_ms


async def test_a_clock_that_jumps_back_ends_nothing_and_the_next_idle_time_counts_whole() -> None:
    clock = Clock()
    clock.now_s = 1_000
    async with engine(resting(clock, end_after_s=60)) as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        clock.now_s = 0
        assert started.status.unused_s == 0
        started.wake()
        clock.now_s = 61
        await eventually(lambda: listener.states[-1] == "idle")


async def test_giving_back_waits_for_the_open_turn_and_does_not_count_as_a_restart() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        pid = started.status.pid
        listener.busy = True
        assert not started.give_back(end=True)
        assert alive(pid)
        listener.busy = False
        await eventually(lambda: listener.states[-1] == "idle" and not alive(pid))
        assert started.give_back(end=True)
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")
        status = started.status
        assert (status.starts, status.ends, status.restarts) == (2, 1, 0)


async def test_speech_in_the_moment_of_ending_gets_a_new_engine() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        assert started.give_back(end=True)
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")
        assert listener.states == ["loading", "ready", "idle", "starting", "loading", "ready"]


async def test_speech_in_the_moment_of_unloading_gets_the_weights_again() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        assert started.give_back(end=False)
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")
        assert listener.states == ["loading", "ready", "idle", "loading", "ready"]


async def test_an_engine_killed_at_rest_is_started_only_when_somebody_speaks() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        assert started.give_back(end=False)
        os.kill(started.status.pid, 9)
        await eventually(lambda: started.status.pid == 0)
        assert listener.states[-1] == "idle"
        assert started.give_back(end=True)
        started.wake()
        await eventually(lambda: listener.states[-1] == "ready")


async def test_a_server_whose_engine_has_ended_stops_at_once() -> None:
    async with engine() as (started, _):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        pid = started.status.pid
        assert started.give_back(end=True)
        await eventually(lambda: not alive(pid))


async def test_a_server_that_stops_lets_no_engine_rest() -> None:
    async with engine() as (started, _listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        stopping = asyncio.create_task(started.stop())
        await asyncio.sleep(0)
        started.give_back(end=True)
        await asyncio.wait_for(stopping, BOUND_S)


@pytest.mark.parametrize("turns_of_the_loop", range(5))
async def test_stopping_while_the_next_engine_is_made_ends_that_one_too(turns_of_the_loop: int) -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        pid = started.status.pid
        assert started.give_back(end=True)
        await eventually(lambda: not alive(pid))
        started.wake()
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)
        await asyncio.wait_for(started.stop(), BOUND_S)
        assert "ready" not in listener.states[2:]


async def test_whoever_asks_for_less_does_not_take_back_what_another_was_promised() -> None:
    async with engine() as (started, listener):
        await asyncio.wait_for(started.wait_ready(), BOUND_S)
        pid = started.status.pid
        listener.busy = True
        assert not started.give_back(end=True)
        assert not started.give_back(end=False)
        listener.busy = False
        await eventually(lambda: not alive(pid))
        assert (started.status.ends, started.status.unloads) == (1, 0)


async def test_what_is_asked_while_the_engine_loads_is_done_once_it_has_loaded(tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    async with engine(scripted("--ready-file", gate, "--log", log)) as (started, listener):
        await eventually(lambda: log.exists() and "Load" in log.read_text())
        assert not started.give_back(end=False)
        assert not started.give_back(end=True)
        started.regulate(IdleSettings(), Retention(park_s=7.0))
        gate.touch()
        await eventually(lambda: listener.states[-1] == "idle")
        assert listener.states == ["loading", "ready", "idle"]
        assert "Retain Retention(park_s=7.0" in log.read_text()
        assert (started.status.ends, started.status.unloads) == (1, 0)
