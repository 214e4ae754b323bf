"""The page about sessions and memory with the desktop's own server: a real process, its engine a scripted child.

What is chosen is seen in the processes: they end, they are started with it, and nothing that is said is lost.
"""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
from memory_desktop import children, desktop
from played_vllm import speech

from sayso.app.memory_policy import PRESETS, Preset
from sayso.app.memory_view import Freeing, Source
from sayso.app.settings import load
from sayso.app.snapshot import ServerState

pytestmark = pytest.mark.engine


async def test_what_is_measured_is_what_the_system_says(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        assert here.view.samples == ()
        here.panel.watch(True)
        await here.until(lambda: here.view.sessions and here.view.samples)
        assert here.local.pid is not None
        sample, server = here.view.samples[-1], psutil.Process(here.local.pid)
        (engine,) = server.children()
        assert here.view.source is Source.LOCAL
        assert sample.desktop == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
        assert sample.server == pytest.approx(server.memory_info().rss, rel=0.2)
        assert sample.engine == pytest.approx(engine.memory_info().rss, rel=0.2)
        assert here.view.engine == "ready"
        assert [row.own for row in here.view.sessions] == [True]
        assert here.view.sessions[0].id == here.client.session_id
        here.panel.watch(False)
        await here.until(lambda: not here.tasks)
        seen = len(here.view.samples)
        here.panel.watch(True)
        await here.until(lambda: len(here.view.samples) > seen)


async def test_a_choice_is_in_force_at_once_and_kept(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        assert here.view.preset is Preset.BALANCED
        assert (await here.in_force())["engine_end_after_s"] == PRESETS[Preset.BALANCED].end_after_s
        pid = here.local.pid
        here.panel.use_preset(Preset.KEEP_READY)
        here.panel.set_control("drop_after_s", 42)
        assert here.view.preset is Preset.CUSTOM
        await here.until(lambda: not here.tasks)
        limits = await here.in_force()
        assert (limits["engine_end_after_s"], limits["drop_after_s"]) == (0, 42)
        assert here.local.pid == pid
        await here.store.written()
        assert load(tmp_path).settings.memory == here.view.controls
        assert here.faults == []


async def test_a_choice_made_before_the_server_is_there_reaches_it(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.until(lambda: here.local.pid is not None)
        here.panel.set_control("drop_after_s", 42)
        await here.ready()
        await here.until(lambda: not here.tasks)
        assert (await here.in_force())["drop_after_s"] == 42


async def test_freeing_ends_the_engine_and_tells_how_much_came_back(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        (engine,) = children(here.local)
        here.panel.free_now()
        assert here.view.freeing is Freeing.WAITING
        await here.until(lambda: here.view.freeing is Freeing.DONE)
        assert here.view.freed is not None
        before, after = here.view.freed
        assert before.engine
        assert after.engine == 0
        assert not psutil.pid_exists(engine)
        assert await here.say(3) == "w0 w1 w2"
        assert children(here.local) != [engine]


async def test_freeing_waits_for_an_open_turn(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        turn = here.client.begin()
        here.client.append(turn, speech(1, 10))
        here.panel.watch(True)
        await here.until(lambda: any(row.state == "streaming" for row in here.view.sessions))
        here.panel.free_now()
        await here.until(lambda: len(here.view.samples) > 3)
        assert here.view.freeing is Freeing.WAITING
        assert here.view.samples[-1].engine
        here.client.end(turn)
        await here.until(lambda: here.view.freeing is Freeing.DONE)
        assert here.texts == ["w0 w1"]


async def test_everything_comes_back_when_nobody_speaks_and_the_next_words_are_all_heard(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        assert here.local.pid is not None
        family = [here.local.pid, *children(here.local)]
        here.panel.use_preset(Preset.EVERYTHING_BACK)
        here.panel.set_control("close_after_s", 0.1)
        await here.until(lambda: here.local.pid is None and not any(psutil.pid_exists(pid) for pid in family))
        here.panel.watch(True)
        await here.until(lambda: here.view.source is Source.ENDED)
        sample = here.view.samples[-1]
        assert (sample.server, sample.engine) == (0, 0)
        assert here.client.connection.state is ServerState.RESTING
        assert here.server.view.detail.startswith("The engine has ended")
        assert await here.say(4) == "w0 w1 w2 w3"
        assert here.view.starts.everything_ms > 0


async def test_the_key_starts_what_has_ended_before_anything_is_said(tmp_path: Path) -> None:
    async with desktop(tmp_path, memory=PRESETS[Preset.EVERYTHING_BACK]) as here:
        await here.ready()
        here.panel.free_now()
        await here.until(lambda: here.view.freeing is Freeing.DONE)
        assert here.local.pid is None
        here.panel.about_to_speak()
        await here.ready()
        assert here.local.pid is not None


async def test_the_key_starts_an_engine_that_rests_beside_an_open_connection(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        here.panel.free_now()
        await here.until(lambda: here.view.freeing is Freeing.DONE)
        assert here.client.connection.code == "idle"
        assert children(here.local) == []
        here.panel.about_to_speak()
        await here.ready()
        assert here.client.connection.code == ""


async def test_a_session_is_closed_from_the_table_and_ones_own_waits_for_the_next_words(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        here.panel.watch(True)
        await here.until(lambda: here.view.sessions)
        here.panel.close_session(here.view.sessions[0].id)
        await here.until(lambda: here.client.connection.state is ServerState.RESTING)
        await here.until(lambda: here.view.sessions == ())
        assert await here.say(2) == "w0 w1"


async def test_closing_a_session_that_is_gone_says_so(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        here.panel.close_session("sess-gone")
        await here.until(lambda: "no such session" in here.view.session_fault)
        here.panel.watch(True)
        assert here.view.session_fault == ""


async def test_a_server_that_died_is_started_with_what_is_chosen_now(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        here.panel.set_control("drop_after_s", 42)
        await here.until(lambda: not here.tasks)
        assert here.local.pid is not None
        os.kill(here.local.pid, 9)
        await here.until(lambda: here.local.pid is None)
        assert await here.say(1) == "w0"
        assert (await here.in_force())["drop_after_s"] == 42


async def test_how_long_a_start_took_is_measured_and_remembered(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        await here.ready()
        await here.until(lambda: here.view.starts.ended_ms > 0 and here.view.starts.everything_ms > 0)
        assert here.view.starts.unloaded_ms == 0
        assert here.view.starts.model == "scripted"
        here.panel.set_control("unload_after_s", 0.2)
        await here.until(lambda: here.client.connection.code == "idle")
        await here.say(1)
        await here.until(lambda: here.view.starts.unloaded_ms > 0)
        measured = here.view.starts
    assert load(tmp_path).settings.starts == measured
