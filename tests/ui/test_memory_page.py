"""The page about sessions and memory: every choice asks for itself, figures are words too, all by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import memory_scenes
import pytest
from conftest import RecordedIntents, turn
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sayso.app.memory_policy import PRESETS, Controls, Preset, changed
from sayso.app.memory_view import Freeing, Place
from sayso.ui.main_window import MainWindow
from sayso.ui.memory_page import MemoryPage
from sayso.ui.settings_window import SettingsWindow
from sayso.ui.text import together
from sayso.ui.theme import Theme

ENGINE_AND_SESSIONS = [name for name in Controls.__struct_fields__ if name not in ("close_after_s", "end_server")]


@pytest.fixture
def settings(qtbot: QtBot, window: MainWindow, intents: RecordedIntents) -> Iterator[SettingsWindow]:
    window.show_snapshot(memory_scenes.balanced())
    window.open_settings()
    assert window.settings is not None
    window.settings.show_page("Sessions and memory")
    with qtbot.waitExposed(window.settings):
        pass
    QApplication.processEvents()
    yield window.settings
    if window.settings is not None:
        window.settings.close()


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> Iterator[MemoryPage]:
    page = MemoryPage(intents, theme)
    page.resize(page.sizeHint())
    with qtbot.waitExposed(page):
        page.show()
    page.show_snapshot(memory_scenes.balanced())
    QApplication.processEvents()
    assert intents.calls == [("watch", True)]
    intents.calls.clear()
    yield page
    page.hide()
    page.deleteLater()


def test_it_is_measured_only_while_it_is_seen(settings: SettingsWindow, intents: RecordedIntents) -> None:
    assert ("watch", True) in intents.calls
    intents.calls.clear()
    settings.show_page("About")
    assert intents.calls == [("watch", False)]
    settings.show_page("Sessions and memory")
    assert intents.calls[-1] == ("watch", True)
    settings.hide()
    assert intents.calls[-1] == ("watch", False)


def test_showing_any_state_asks_for_nothing(page: MemoryPage, intents: RecordedIntents) -> None:
    for make in (*memory_scenes.ALL.values(), *reversed(memory_scenes.ALL.values())):
        page.show_snapshot(make())
        QApplication.processEvents()
    assert intents.calls == []


def test_a_preset_is_chosen_with_the_keyboard(page: MemoryPage, intents: RecordedIntents) -> None:
    assert page.presets.buttons[Preset.BALANCED].isChecked()
    page.presets.buttons[Preset.BALANCED].setFocus()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    assert [call[1] for call in intents.calls] == [Preset.EVERYTHING_BACK, Preset.BALANCED, Preset.KEEP_READY]


def test_controls_set_by_hand_are_no_preset(page: MemoryPage) -> None:
    assert not page.presets.custom.isVisible()
    page.show_snapshot(memory_scenes.custom_with_sessions())
    assert not any(button.isChecked() for button in page.presets.buttons.values())
    assert page.presets.custom.isVisible()
    page.show_snapshot(memory_scenes.everything_back())
    assert page.presets.buttons[Preset.EVERYTHING_BACK].isChecked()
    assert not page.presets.custom.isVisible()


def test_each_choice_says_what_coming_back_costs_here(page: MemoryPage) -> None:
    assert together("0.8 s after unloading, 2.1 s") in page.presets.words[Preset.BALANCED].text()
    assert together("3.4 s from nothing") in page.presets.words[Preset.EVERYTHING_BACK].text()
    page.show_snapshot(memory_scenes.first_look())
    assert "not measured yet" in page.presets.words[Preset.BALANCED].text()


@pytest.mark.parametrize("name", ENGINE_AND_SESSIONS)
def test_every_control_asks_for_its_own_change_and_shows_what_is(
    page: MemoryPage, intents: RecordedIntents, name: str
) -> None:
    box = {**page.engine.boxes, **page.waiting.boxes}[name]
    for key in (Qt.Key.Key_End, Qt.Key.Key_Home):
        QTest.keyClick(box, key)
        assert intents.calls[-1] == ("set_control", name, box.currentData())
    assert box.currentData() == 0
    controls = changed(PRESETS[Preset.BALANCED], name, 37)
    page.show_snapshot(memory_scenes.shown(memory_scenes.of(Preset.CUSTOM, controls=controls)))
    assert box.currentData() == 37
    assert "37" in box.currentText()


def test_the_local_server_ends_only_with_the_connection(page: MemoryPage, intents: RecordedIntents) -> None:
    assert not page.own.end_server.isEnabled()
    QTest.keyClick(page.own.boxes["close_after_s"], Qt.Key.Key_End)
    assert intents.calls[-1] == ("set_control", "close_after_s", 3600.0)
    page.show_snapshot(memory_scenes.everything_back())
    assert page.own.end_server.isEnabled()
    QTest.keyClick(page.own.end_server, Qt.Key.Key_Space)
    assert intents.calls[-1] == ("set_control", "end_server", False)


def test_memory_is_freed_once_and_what_came_back_is_said(page: MemoryPage, intents: RecordedIntents) -> None:
    QTest.keyClick(page.free, Qt.Key.Key_Space)
    assert intents.calls == [("free_now",)]
    page.show_snapshot(memory_scenes.waiting())
    assert not page.free.isEnabled()
    assert "as soon as nobody speaks" in page.freed.text()
    page.show_snapshot(memory_scenes.freed())
    assert page.free.isEnabled()
    assert page.freed.text() == "445 MB came back: engine 445 MB → 0 MB."
    page.show_snapshot(memory_scenes.fault())
    assert "still speaking" in page.freed.text()


def test_a_session_is_chosen_and_closed_with_the_keyboard(page: MemoryPage, intents: RecordedIntents) -> None:
    page.show_snapshot(memory_scenes.custom_with_sessions())
    QApplication.processEvents()
    page.sessions.setCurrentIndex(page.sessions.rows.index(1, 0))
    QTest.keyClick(page.session_actions.close_session, Qt.Key.Key_Space)
    assert intents.calls == [("close_session", "sess-77d1e0ffa2b3")]
    page.sessions.setFocus()
    QTest.keyClick(page.sessions, Qt.Key.Key_Down)
    QTest.keyClick(page.sessions, Qt.Key.Key_Delete)
    assert intents.calls[-1] == ("close_session", "sess-c0ffee12aa90")


def test_without_a_chosen_session_none_can_be_closed(page: MemoryPage) -> None:
    assert not page.session_actions.close_session.isEnabled()
    assert not page.session_actions.put_away.isEnabled()


@pytest.mark.parametrize(("place", "key"), [(Place.HOST, "P"), (Place.DISK, "H"), (Place.DROPPED, "D")])
def test_a_session_is_put_away_by_itself_with_the_keyboard(
    page: MemoryPage, intents: RecordedIntents, place: Place, key: str
) -> None:
    page.show_snapshot(memory_scenes.custom_with_sessions())
    page.sessions.setCurrentIndex(page.sessions.rows.index(3, 0))
    QTest.keyClick(page.session_actions.put_away, Qt.Key.Key_Space)
    menu = page.session_actions.put_away.menu()
    assert menu.isVisible()
    QTest.keyClick(menu, key)
    assert intents.calls == [("put_away", "sess-5513bd2200aa", place)]


def test_the_tables_own_menu_has_the_same_choices(page: MemoryPage, intents: RecordedIntents) -> None:
    page.sessions.customContextMenuRequested.emit(QPoint(5, 5))
    assert not page.session_actions.menu.isVisible()
    page.show_snapshot(memory_scenes.custom_with_sessions())
    page.sessions.setCurrentIndex(page.sessions.rows.index(3, 0))
    page.sessions.customContextMenuRequested.emit(QPoint(5, 5))
    assert page.session_actions.menu.isVisible()
    labels = [action.text().replace("&", "") for action in page.session_actions.menu.actions() if action.text()]
    assert labels == ["Park in main memory", "Hibernate to disk", "Drop and recompute", "Close session"]
    QTest.keyClick(page.session_actions.menu, Qt.Key.Key_H)
    assert intents.calls == [("put_away", "sess-5513bd2200aa", Place.DISK)]


@pytest.mark.parametrize(
    ("row", "places"),
    [(0, [Place.DISK, Place.DROPPED]), (1, []), (2, [Place.DROPPED]), (3, list(Place))],
)
def test_only_places_deeper_than_where_a_session_is_are_offered(
    page: MemoryPage, row: int, places: list[Place]
) -> None:
    page.show_snapshot(memory_scenes.custom_with_sessions())
    page.sessions.setCurrentIndex(page.sessions.rows.index(row, 0))
    assert [place for place, action in page.session_actions.places.items() if action.isEnabled()] == places
    assert page.session_actions.put_away.isEnabled() == bool(places)
    assert bool(page.session_actions.put_away.toolTip()) != bool(places)


def test_nothing_is_put_away_while_the_engine_is_not_ready(page: MemoryPage) -> None:
    snapshot = memory_scenes.custom_with_sessions()
    page.show_snapshot(snapshot)
    page.sessions.setCurrentIndex(page.sessions.rows.index(3, 0))
    page.show_snapshot(replace(snapshot, memory=replace(snapshot.memory, engine="restarting")))
    assert not page.session_actions.put_away.isEnabled()
    assert "not ready" in page.session_actions.put_away.accessibleDescription()
    assert page.session_actions.close_session.isEnabled()


def test_why_nothing_came_of_it_is_said_beside_the_buttons(page: MemoryPage) -> None:
    page.show_snapshot(memory_scenes.kept())
    assert "it has work just now" in page.session_actions.words.text()
    assert page.session_actions.words.property("tone") == "bad"


def test_the_numbers_of_the_graph_are_said(page: MemoryPage) -> None:
    told = page.graph.accessibleDescription()
    assert told.startswith("Now 640 MB in all: desktop 128 MB, server 86 MB, engine 426 MB.")
    assert "in the last" in told


def test_a_server_elsewhere_shows_its_rules_and_lets_them_be(page: MemoryPage) -> None:
    page.show_snapshot(memory_scenes.remote())
    assert not page.presets.isVisible()
    assert page.engine.boxes["end_after_s"].currentText() == "10 minutes"
    boxes = [*page.engine.boxes.values(), *page.waiting.boxes.values()]
    assert not any(box.isEnabled() for box in boxes)
    assert page.own.boxes["close_after_s"].isEnabled()
    assert "changed there" in page.engine.note.text()
    assert "192.168.1.20:8000" in page.source.text().replace("\u200b", "")


def test_a_server_that_shows_them_to_its_keeper_only_says_so(page: MemoryPage) -> None:
    page.show_snapshot(memory_scenes.keeper_only())
    assert "admin key" in page.session_actions.words.text()
    assert not page.session_actions.put_away.isVisible()
    assert not page.engine.isVisible()
    assert not page.sessions.isVisible()


def test_with_a_server_that_reports_nothing_only_what_a_client_can_do_is_offered(page: MemoryPage) -> None:
    page.show_snapshot(memory_scenes.plain())
    assert "no Sayso server" in page.source.text()
    assert page.free.text().replace("&", "") == "Close the connection now"
    shown = [page.presets, page.engine, page.waiting, page.sessions, page.own.end_server]
    assert not any(widget.isVisible() for widget in shown)
    assert page.own.boxes["close_after_s"].isVisible()


def test_every_control_is_reached_with_tab_and_has_a_name(settings: SettingsWindow) -> None:
    page = turn(settings, MemoryPage)
    page.show_snapshot(memory_scenes.custom_with_sessions())
    page.sessions.setCurrentIndex(page.sessions.rows.index(0, 0))
    controls: list[QWidget] = [
        page.free,
        page.sessions,
        page.session_actions.put_away,
        page.session_actions.close_session,
    ]
    controls += [*page.engine.boxes.values(), *page.waiting.boxes.values(), *page.own.boxes.values()]
    settings.activateWindow()
    settings.index.list.setFocus()
    reached = []
    for _ in range(len(controls) + 6):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    places = [reached.index(control) for control in controls]
    assert places == sorted(places)
    for control in (*controls, page.graph, *page.presets.buttons.values()):
        assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip(), control


def test_a_state_that_came_once_is_not_shown_again(page: MemoryPage) -> None:
    snapshot = memory_scenes.balanced()
    page.show_snapshot(snapshot)
    page.freed.setText("untouched")
    page.show_snapshot(replace(snapshot, memory=replace(snapshot.memory)))
    assert page.freed.text() == "untouched"
    page.show_snapshot(replace(snapshot, memory=replace(snapshot.memory, freeing=Freeing.WAITING)))
    assert page.freed.text() != "untouched"
