"""Every control of the page about sessions and memory, worked by keyboard in the real page, and seen in the processes.

The server is the desktop's own as a process of its own; the engine is its scripted child.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
import pytest
from memory_desktop import Desktop, children, desktop
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sayso.app.memory_policy import PRESETS, Controls, Preset, server_limits
from sayso.app.memory_view import Freeing
from sayso.app.snapshot import DesktopState, MicrophoneState, MicrophoneView, Mode, Snapshot
from sayso.ui.memory_page import MemoryPage
from sayso.ui.theme import Theme

pytestmark = pytest.mark.engine

CLOSED = MicrophoneView(MicrophoneState.CLOSED)


class Shown:
    """The page beside the desktop whose states it shows."""

    def __init__(self, here: Desktop, application: QApplication) -> None:
        self.here = here
        intents: Any = SimpleNamespace(memory=here.panel)
        self.page = MemoryPage(intents, Theme(application))
        here.on_change = self.show
        self.page.show()
        self.show()

    def show(self) -> None:
        here = self.here
        self.page.show_snapshot(
            Snapshot(DesktopState.IDLE, CLOSED, here.server.view, Mode.COMMANDS, memory=here.view),
        )

    async def in_force(self, controls: Controls) -> None:
        """Return when the server has these limits."""
        wanted = server_limits(controls)
        await self.here.until(lambda: self.here.local.knows == wanted)
        limits = await self.here.in_force()
        assert {name: limits[name] for name in wanted} == wanted


@pytest.fixture
async def shown(tmp_path: Path, qapp: QApplication) -> AsyncIterator[Shown]:
    async with desktop(tmp_path) as here:
        made = Shown(here, qapp)
        await here.ready()
        yield made
        made.page.hide()
        here.on_change = lambda: None
        made.page.deleteLater()
    qapp.setStyleSheet("")


async def test_every_control_is_in_force_in_the_server_as_soon_as_it_is_changed(shown: Shown) -> None:
    page, here = shown.page, shown.here
    boxes = {**page.engine.boxes, **page.waiting.boxes, **page.own.boxes}
    for name, box in boxes.items():
        QTest.keyClick(box, Qt.Key.Key_End)
        assert getattr(here.view.controls, name) == box.currentData() > 0
    await shown.in_force(here.view.controls)
    assert here.view.preset is Preset.CUSTOM
    QTest.keyClick(page.own.end_server, Qt.Key.Key_Space)
    assert here.view.controls.end_server
    assert here.server.ends_at_rest
    for box in boxes.values():
        QTest.keyClick(box, Qt.Key.Key_Home)
    QTest.keyClick(page.own.end_server, Qt.Key.Key_Space)
    await shown.in_force(Controls(end_server=here.view.controls.end_server))


async def test_every_preset_is_in_force_in_the_server_as_soon_as_it_is_chosen(shown: Shown) -> None:
    for preset in (Preset.EVERYTHING_BACK, Preset.KEEP_READY, Preset.BALANCED):
        QTest.keyClick(shown.page.presets.buttons[preset], Qt.Key.Key_Space)
        assert shown.here.view.preset is preset
        await shown.in_force(PRESETS[preset])


async def test_the_button_ends_the_engine_and_the_page_says_how_much_came_back(shown: Shown) -> None:
    (engine,) = children(shown.here.local)
    QTest.keyClick(shown.page.free, Qt.Key.Key_Space)
    await shown.here.until(lambda: shown.here.view.freeing is Freeing.DONE)
    assert not psutil.pid_exists(engine)
    assert "came back: engine" in shown.page.freed.text()
    assert "engine 0 MB" in shown.page.graph.accessibleDescription()


async def test_a_session_is_closed_from_the_table(shown: Shown) -> None:
    page, here = shown.page, shown.here
    await here.until(lambda: page.sessions.rows.rowCount() == 1)
    page.sessions.setCurrentIndex(page.sessions.rows.index(0, 0))
    QTest.keyClick(page.close_session, Qt.Key.Key_Space)
    await here.until(lambda: here.client.is_resting)
    await here.until(lambda: page.sessions.rows.rowCount() == 0)


async def test_giving_everything_back_ends_every_process_but_this_one_and_speech_starts_them(shown: Shown) -> None:
    page, here = shown.page, shown.here
    assert here.local.pid is not None
    family = [here.local.pid, *children(here.local)]
    QTest.keyClick(page.presets.buttons[Preset.EVERYTHING_BACK], Qt.Key.Key_Space)
    QTest.keyClick(page.free, Qt.Key.Key_Space)
    await here.until(lambda: not any(psutil.pid_exists(pid) for pid in family))
    await here.until(lambda: "ended" in page.source.text())
    assert await here.say(4) == "w0 w1 w2 w3"
    await here.until(lambda: "from nothing" in page.presets.words[Preset.EVERYTHING_BACK].text())
