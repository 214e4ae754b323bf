"""Every control of the page about sessions and memory, worked by keyboard in the real window, seen in the processes.

The server is the desktop's own as a process of its own; the engine is its scripted child, which writes down what rules
it is given. ``test_memory_page_sessions`` has what needs a model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from memory_desktop import children, desktop
from memory_window import Shown, shown_window
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox

from sayso.app.memory_policy import PRESETS, Controls, Preset, server_limits
from sayso.app.memory_view import Freeing
from sayso.server.engine_rules import retention
from sayso.server.limits import RunningLimits

pytestmark = pytest.mark.engine


@pytest.fixture
async def shown(tmp_path: Path, qapp: QApplication) -> AsyncIterator[Shown]:
    async with desktop(tmp_path, "--log", str(tmp_path / "engine.log")) as here:
        with shown_window(here, qapp) as made:
            await here.ready()
            yield made


async def in_force(shown: Shown, controls: Controls, log: Path) -> None:
    """Return when the server has these limits, and the engine those of them that are about its sessions."""
    here, wanted = shown.here, server_limits(controls)
    await here.until(lambda: here.local.knows == wanted)
    limits = await here.in_force()
    assert {name: limits[name] for name in wanted} == wanted
    rules = str(retention(RunningLimits(**wanted)))  # type: ignore[arg-type]
    await here.until(lambda: rules_of_engine(log) == rules)


def rules_of_engine(log: Path) -> str:
    """Those it was given last."""
    given = [line for line in log.read_text().splitlines() if line.startswith(("Load ", "Retain "))]
    return given[-1].split(" ", 1)[1]


async def test_every_control_is_in_force_in_server_and_engine_as_soon_as_it_is_changed(
    shown: Shown, tmp_path: Path
) -> None:
    page, here, log = shown.page, shown.here, tmp_path / "engine.log"
    for name, box in shown.boxes.items():
        shown.press(box, Qt.Key.Key_End)
        assert getattr(here.view.controls, name) == box.currentData() > 0
        await in_force(shown, here.view.controls, log)
    assert here.view.preset is Preset.CUSTOM
    shown.press(page.own.end_server, Qt.Key.Key_Space)
    assert here.view.controls.end_server
    assert here.server.ends_at_rest
    for box in shown.boxes.values():
        shown.press(box, Qt.Key.Key_Home)
    assert here.view.controls == Controls(end_server=True)
    assert not page.own.end_server.isEnabled()
    await in_force(shown, here.view.controls, log)


async def test_every_preset_is_in_force_as_soon_as_it_is_chosen(shown: Shown, tmp_path: Path) -> None:
    for preset in (Preset.EVERYTHING_BACK, Preset.KEEP_READY, Preset.BALANCED):
        shown.press(shown.page.presets.buttons[preset], Qt.Key.Key_Space)
        assert shown.here.view.preset is preset
        await in_force(shown, PRESETS[preset], tmp_path / "engine.log")


async def test_no_control_of_the_page_is_left_out_here(shown: Shown) -> None:
    page = shown.page
    tried = [*shown.boxes.values(), page.own.end_server, *page.presets.buttons.values(), page.free]
    elsewhere = [page.session_actions.put_away, page.session_actions.close_session]
    found = page.findChildren(QAbstractButton) + page.findChildren(QComboBox)
    assert {*found} == {*tried, *elsewhere}


async def test_the_button_ends_the_engine_and_the_page_says_how_much_came_back(shown: Shown) -> None:
    (engine,) = children(shown.here.local)
    shown.press(shown.page.free, Qt.Key.Key_Space)
    await shown.here.until(lambda: shown.here.view.freeing is Freeing.DONE)
    # Its memory is back by then; that its parent has buried it comes a moment later.
    await shown.here.until(lambda: not psutil.pid_exists(engine))
    assert "came back: engine" in shown.page.freed.text()
    assert "engine 0 MB" in shown.page.graph.accessibleDescription()


@pytest.mark.parametrize("by", ["button", "mouse", "key"])
async def test_a_session_is_closed_from_the_table(shown: Shown, by: str) -> None:
    page, here = shown.page, shown.here
    await here.until(lambda: page.sessions.rows.rowCount() == 1)
    shown.press(page.sessions, Qt.Key.Key_Down)
    assert page.sessions.chosen() is not None
    if by == "button":
        shown.press(page.session_actions.close_session, Qt.Key.Key_Space)
    elif by == "mouse":
        QTest.mouseClick(page.session_actions.close_session, Qt.MouseButton.LeftButton)
    else:
        shown.press(page.sessions, Qt.Key.Key_Delete)
    await here.until(lambda: here.client.is_resting)
    await here.until(lambda: page.sessions.rows.rowCount() == 0)


async def test_giving_everything_back_ends_every_process_but_this_one_and_speech_starts_them(shown: Shown) -> None:
    page, here = shown.page, shown.here
    assert here.local.pid is not None
    family = [here.local.pid, *children(here.local)]
    shown.press(page.presets.buttons[Preset.EVERYTHING_BACK], Qt.Key.Key_Space)
    shown.press(page.free, Qt.Key.Key_Space)
    await here.until(lambda: not any(psutil.pid_exists(pid) for pid in family))
    await here.until(lambda: "ended" in page.source.text())
    assert await here.say(4) == "w0 w1 w2 w3"
    await here.until(lambda: "from nothing" in page.presets.words[Preset.EVERYTHING_BACK].text())
