"""The tray icon: each state has its own shape and words, every entry of its menu works, and closing goes there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtWidgets import QSystemTrayIcon

from sayso.app.snapshot import Mode, Notice
from sayso.app.ways_view import Way, WaysView
from sayso.ui import icon
from sayso.ui.main_window import MainWindow
from sayso.ui.tray import TOLD, Tray, drawing


@pytest.fixture
def tray(window: MainWindow, intents: RecordedIntents) -> Iterator[Tray]:
    tray = Tray(intents, window)
    yield tray
    tray.close()


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desktop that has a tray; the real one is in tests/integration."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)


@pytest.mark.usefixtures("qapp")
def test_states_differ_in_shape_and_not_only_in_colour() -> None:
    shapes = {scene: drawing(scenes.ALL[scene]()) for scene in ("empty", "listening", "idle", "starting", "no-signal")}
    assert len(set(shapes.values())) == len(shapes), shapes
    pictures = {shape: icon.plate(shape, "#000000").pixmap(22, 22).toImage() for shape in shapes.values()}
    images = list(pictures.values())
    assert all(first != second for index, first in enumerate(images) for second in images[:index])


def test_the_tip_says_in_words_what_the_window_says(tray: Tray) -> None:
    for name, tip in (("empty", "Ready"), ("idle", "Not listening"), ("no-microphone", "No microphone")):
        tray.show_snapshot(scenes.ALL[name]())
        assert tray.icon.toolTip() == f"Sayso: {tip}"
        assert tray.icon.isVisible()


def test_every_entry_of_the_menu_is_done(tray: Tray, intents: RecordedIntents, window: MainWindow) -> None:
    tray.show_snapshot(scenes.empty())
    window.hide()
    for action in (tray.listen, *tray.modes, *tray.ways, tray.servers[0], tray.quit):
        action.trigger()
    modes = [("set_mode", Mode.COMMANDS), ("set_mode", Mode.DICTATION)]
    ways = [("use_way", way) for way in (Way.HANDS_FREE, Way.TOGGLE, Way.HOLD)]
    assert intents.calls == [("toggle",), *modes, *ways, ("use_embedded",), ("quit",)]
    tray.show_window.trigger()
    assert window.isVisible()


def test_another_server_is_chosen_in_the_window_and_marked_only_when_it_is_used(tray: Tray, window: MainWindow) -> None:
    window.show_snapshot(scenes.empty())
    tray.show_snapshot(scenes.empty())
    window.hide()
    tray.servers[1].trigger()
    assert window.server.fields.address.isVisible()
    assert [action.isChecked() for action in tray.servers] == [True, False]
    tray.show_snapshot(replace(scenes.empty(), server=scenes.REMOTE))
    assert [action.isChecked() for action in tray.servers] == [False, True]


def test_the_menu_tells_what_is_on(tray: Tray) -> None:
    tray.show_snapshot(replace(scenes.empty(), mode=Mode.DICTATION))
    assert tray.listen.text() == "Stop listening"
    assert [action.isChecked() for action in tray.modes] == [False, True]
    tray.show_snapshot(replace(scenes.empty(), ways=WaysView(Way.HOLD)))
    assert [action.isChecked() for action in tray.ways] == [False, False, True]
    tray.show_snapshot(scenes.idle())
    assert tray.listen.text() == "Start listening"
    assert [action.isChecked() for action in tray.modes] == [True, False]


@pytest.mark.usefixtures("panel")
def test_closing_leaves_the_icon_and_a_click_on_it_brings_the_window_back(
    tray: Tray, window: MainWindow, intents: RecordedIntents
) -> None:
    tray.show_snapshot(scenes.empty())
    window.close()
    assert not window.isVisible()
    assert intents.calls == [("retreated",)]
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert window.isVisible()


@pytest.mark.usefixtures("panel")
def test_who_wants_the_end_of_the_window_to_be_the_end_gets_that(
    tray: Tray, window: MainWindow, intents: RecordedIntents
) -> None:
    tray.show_snapshot(replace(scenes.empty(), close_to_tray=False))
    window.close()
    assert intents.calls == [("quit",)]


def test_without_a_tray_closing_ends_it(tray: Tray, window: MainWindow, intents: RecordedIntents) -> None:
    tray.show_snapshot(scenes.empty())
    window.close()
    assert intents.calls == [("quit",)]


def test_that_it_goes_on_is_told_once_where_it_is_seen(tray: Tray, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(tray.icon, "showMessage", lambda *message: told.append(message[1]))
    notice = replace(scenes.empty(), notices=(Notice(TOLD, "Sayso goes on in the tray."),))
    for shown in (scenes.empty(), notice, notice, scenes.empty()):
        tray.show_snapshot(shown)
    assert told == ["Sayso goes on in the tray."]
