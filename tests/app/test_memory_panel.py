"""The page about sessions and memory with servers elsewhere; tests/integration has it with the desktop's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from memory_desktop import desktop
from played_machine import PlayedMachine
from played_vllm import vllm_server
from running_server import scripted, server

from sayso.app.memory_policy import Preset
from sayso.app.memory_view import Freeing, Source
from sayso.app.snapshot import ServerKind
from sayso.server.config import ServerConfig
from sayso.server.security import Gate, Refusal


async def test_what_cannot_be_chosen_is_told(tmp_path: Path) -> None:
    async with desktop(tmp_path) as here:
        here.panel.set_control("end_after_s", -1)
        assert "not possible" in here.view.fault
        assert here.view.preset is Preset.BALANCED
        here.panel.use_preset(Preset.KEEP_READY)
        assert here.view.fault == ""


async def test_a_remote_server_of_ours_is_shown_with_its_own_rules(tmp_path: Path) -> None:
    config = ServerConfig(port=0, drop_after_s=77)
    async with server(config=config) as url, desktop(tmp_path, server=ServerKind.REMOTE, remote_url=url) as here:
        await here.ready()
        here.panel.watch(True)
        await here.until(lambda: here.view.theirs is not None)
        assert here.view.theirs is not None
        assert here.view.theirs.drop_after_s == 77
        assert here.view.source is Source.REMOTE
        assert here.view.server == url.split("/")[2]
        assert here.view.sessions[0].own
        assert here.view.samples[-1].engine
        assert here.view.starts.ended_ms == 0


@pytest.mark.parametrize("told", [True, False])
async def test_a_system_that_does_not_tell_how_scarce_memory_is_is_shown_as_such(tmp_path: Path, told: bool) -> None:
    machine = PlayedMachine(tmp_path / "machine")
    settings = machine.around(scripted())
    if not told:
        settings = replace(settings, memory_pressure=tmp_path / "none")
    async with server(settings) as url, desktop(tmp_path, server=ServerKind.REMOTE, remote_url=url) as here:
        await here.ready()
        here.panel.watch(True)
        await here.until(lambda: here.view.source is Source.REMOTE)
        assert here.view.scarcity_unknown is not told


async def test_a_remote_server_that_shows_its_sessions_to_its_keeper_only_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Refusal(403, "admin_only", "Only this machine, or whoever has the admin key, may do this.")
    monkeypatch.setattr(Gate, "admin_refusal", lambda *_: refusal)
    async with server() as url, desktop(tmp_path, server=ServerKind.REMOTE, remote_url=url) as here:
        await here.ready()
        here.panel.watch(True)
        await here.until(lambda: here.view.refusal)
        assert "admin key" in here.view.refusal
        assert here.view.sessions == ()
        assert here.view.samples[-1].engine
        here.panel.free_now()
        await here.until(lambda: here.view.freeing is Freeing.NO)
        assert "admin key" in here.view.fault


async def test_a_server_that_reports_nothing_is_left_when_nobody_speaks_and_found_again(tmp_path: Path) -> None:
    async with vllm_server() as played, desktop(tmp_path, server=ServerKind.REMOTE, remote_url=played.url) as here:
        await here.ready()
        here.panel.watch(True)
        await here.until(lambda: here.view.source is Source.PLAIN)
        assert here.view.samples[-1].server is None
        here.panel.set_control("close_after_s", 0.1)
        await here.until(lambda: here.client.is_resting)
        assert here.view.source is Source.PLAIN
        await here.say(1)
        assert here.texts == [" ".join(f"w{number}" for number in range(1, 6))]
        here.panel.set_control("close_after_s", 0)
        here.panel.free_now()
        await here.until(lambda: here.view.freeing is Freeing.DONE)
        assert here.client.is_resting
