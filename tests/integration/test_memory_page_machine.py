"""The two controls that look at the machine, chosen in the real window: what it runs on, and how scarce memory is.

The desktop's own server and its real engine; the machine's files are written by the test. The least times that can be
chosen, so it takes a while.
"""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest
from memory_desktop import Desktop, children, started
from memory_window import shown_window
from played_machine import PlayedMachine
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from session_callers import REPLY_S
from speech import recording

from sayso.app.local_server import LocalServer
from sayso.app.memory_policy import PRESETS, Preset, server_limits
from sayso.app.settings import Settings

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(400)]

SERVER = Path(__file__).parents[1] / "played_machine.py"


async def said(here: Desktop) -> str:
    before, turn = len(here.texts), here.client.begin()
    here.client.append(turn, recording("beckett")[:32_000])
    here.client.end(turn)
    await here.until(lambda: len(here.texts) > before, REPLY_S)
    return here.texts[-1]


async def test_the_engine_ends_on_battery_and_when_memory_is_scarce_and_speech_brings_it_back(
    tmp_path: Path, qapp: QApplication
) -> None:
    machine = PlayedMachine(tmp_path / "machine")
    settings = Settings(memory=PRESETS[Preset.KEEP_READY])
    command = [sys.executable, str(SERVER), str(machine.folder)]
    local = LocalServer("tiny.en", threads=1, command=command, limits=server_limits(settings.memory))
    async with started(Desktop(tmp_path / "settings", settings, local=local)) as here:
        with shown_window(here, qapp) as shown:
            await here.ready(REPLY_S)
            expected = await said(here)
            for name, happens in (
                ("end_on_battery_after_s", lambda: machine.plug(False)),
                ("end_at_pressure", lambda: machine.press(6.0)),
            ):
                (engine,) = children(local)
                shown.press(shown.boxes[name], Qt.Key.Key_Home, Qt.Key.Key_Down)
                assert shown.boxes[name].currentData() in (5, 10)
                await here.until(lambda: local.knows == server_limits(here.view.controls))
                assert psutil.pid_exists(engine)
                happens()
                await here.until(lambda engine=engine: not psutil.pid_exists(engine), REPLY_S)
                await here.until(lambda: here.view.engine == "idle")
                machine.plug(True)
                machine.press(0.0)
                assert await said(here) == expected
