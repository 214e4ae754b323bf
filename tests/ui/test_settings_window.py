"""The settings window: every control asks for its own change at once, shows what is, and is reached by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import scenes
from conftest import RecordedIntents, turn
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from sayso.app.commands_view import CommandRow, CommandsView
from sayso.app.engine_view import EngineView
from sayso.app.memory_view import MemoryView
from sayso.app.microphone_check_view import CheckState, MicrophoneCheckView
from sayso.app.remote_server_view import Finding, RemoteServerView
from sayso.app.snapshot import MicrophoneChoice, OptionsView, ServerKind, ServerState, ServerView, Snapshot
from sayso.ui.about_page import AboutPage
from sayso.ui.commands_page import CommandsPage
from sayso.ui.listening_page import ListeningPage
from sayso.ui.main_window import MainWindow
from sayso.ui.microphone_page import MicrophonePage
from sayso.ui.settings_contents import PAGES
from sayso.ui.settings_window import SettingsWindow
from sayso.ui.theme import Theme

MICROPHONES = (MicrophoneChoice("usb", "USB headset"), MicrophoneChoice("desk", "Desk microphone"))
COMMANDS = CommandsView(
    (
        CommandRow("volume.change", "volume up", "Makes it louder."),
        CommandRow("applications.open", "open firefox", "Starts an application."),
    )
)


def shown(**options: object) -> Snapshot:
    return replace(scenes.listening(), commands=COMMANDS, options=replace(OptionsView("", MICROPHONES), **options))


@pytest.fixture
def settings(qtbot: QtBot, window: MainWindow, intents: RecordedIntents) -> Iterator[SettingsWindow]:
    window.show_snapshot(shown())
    window.open_settings()
    assert window.settings is not None
    with qtbot.waitExposed(window.settings):
        pass
    intents.calls.clear()
    yield window.settings
    if window.settings is not None:
        window.settings.close()


def visible_pages(settings: SettingsWindow) -> list[str]:
    items = [settings.index.list.item(number) for number in range(settings.index.list.count())]
    return [item.text() for item in items if not item.isHidden()]


def test_showing_asks_for_nothing(settings: SettingsWindow, intents: RecordedIntents) -> None:
    for snapshot in (shown(microphone="desk", wait_ms=900, listens_at_start=False), shown()):
        settings.show_snapshot(replace(snapshot, close_to_tray=False, starts_with_session=True))
        settings.show_snapshot(snapshot)
    assert intents.calls == []


def test_a_microphone_is_chosen_with_the_keyboard(settings: SettingsWindow, intents: RecordedIntents) -> None:
    choice = turn(settings, MicrophonePage).choice
    assert [choice.itemText(index) for index in range(choice.count())][1:] == ["USB headset", "Desk microphone"]
    choice.setFocus()
    QTest.keyClick(choice, Qt.Key.Key_Down)
    QTest.keyClick(choice, Qt.Key.Key_Down)
    QTest.keyClick(choice, Qt.Key.Key_Home)
    assert intents.calls == [("use_microphone", "usb"), ("use_microphone", "desk"), ("use_microphone", "")]


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ("", "Follow the system's default"),
        ("desk", "Desk microphone"),
        ("Desk microphone", "Desk microphone"),
        ("gone", "gone (not connected)"),
    ],
)
def test_the_chosen_microphone_is_shown_also_when_it_is_away(settings: SettingsWindow, chosen: str, text: str) -> None:
    settings.show_snapshot(shown(microphone=chosen))
    assert turn(settings, MicrophonePage).choice.currentText() == text


def test_microphones_are_looked_for_only_while_the_page_is_seen(
    qtbot: QtBot, settings: SettingsWindow, intents: RecordedIntents
) -> None:
    qtbot.waitUntil(lambda: ("look_for_microphones",) in intents.calls, timeout=10_000)
    turn(settings, AboutPage)
    intents.calls.clear()
    qtbot.wait(0)
    assert intents.calls == []
    turn(settings, MicrophonePage)
    assert intents.calls == [("look_for_microphones",)]


def test_the_level_is_live(settings: SettingsWindow) -> None:
    page = turn(settings, MicrophonePage)
    described = page.meter.accessibleDescription()
    settings.show_snapshot(replace(shown(), microphone=scenes.hot().microphone))
    assert page.meter.accessibleDescription() != described


def test_a_peak_that_is_over_is_still_told_for_a_while(qtbot: QtBot, settings: SettingsWindow) -> None:
    page = turn(settings, MicrophonePage)
    assert not page.loud.isVisible()
    page._quietened.setInterval(300)
    settings.show_snapshot(replace(shown(), microphone=scenes.hot().microphone))
    settings.show_snapshot(shown())
    assert page._quietened.isActive()
    qtbot.waitUntil(lambda: not page.loud.isVisible(), timeout=20_000)


def test_hearing_yourself_says_what_happens_and_then_how_it_was(
    settings: SettingsWindow, intents: RecordedIntents
) -> None:
    page = turn(settings, MicrophonePage)
    part = page.check
    assert part.line.text() == ""
    QTest.keyClick(part.button, Qt.Key.Key_Space)
    assert intents.calls == [("start_check",)]
    silent = replace(shown(), microphone=scenes.idle().microphone)
    for state, words in (
        (CheckState.OPENING, "Opening"),
        (CheckState.RECORDING, "Recording"),
        (CheckState.PLAYING, "Playing"),
    ):
        settings.show_snapshot(replace(silent, check=MicrophoneCheckView(state, level_db=-9.0)))
        assert part.line.text().startswith(words)
        assert (page.meter.accessibleDescription() == "The microphone delivers sound") is (
            state is CheckState.RECORDING
        )
    QTest.keyClick(part.button, Qt.Key.Key_Space)
    assert intents.calls[-1] == ("stop_check",)
    settings.show_snapshot(replace(silent, check=MicrophoneCheckView(CheckState.FAILED, detail="It is in use.")))
    assert part.line.text() == "It is in use."
    assert part.button.text().replace("&", "") == "Hear yourself"


def test_the_pause_is_set_in_steps_and_told_in_seconds(settings: SettingsWindow, intents: RecordedIntents) -> None:
    page = turn(settings, ListeningPage)
    QTest.keyClick(page.wait, Qt.Key.Key_Right)
    QTest.keyClick(page.wait, Qt.Key.Key_End)
    assert intents.calls == [("set_wait_ms", 600), ("set_wait_ms", 1500)]
    settings.show_snapshot(shown(wait_ms=800))
    assert page.wait_label.text().endswith("0.80 s")
    assert page.wait.accessibleDescription() == "0.80 seconds"


@pytest.mark.parametrize(
    ("box", "intent"),
    [
        ("listens_at_start", "set_listens_at_start"),
        ("starts_with_session", "set_start_with_session"),
        ("close_to_tray", "set_close_to_tray"),
    ],
)
def test_every_switch_asks_for_what_it_says(
    settings: SettingsWindow, intents: RecordedIntents, box: str, intent: str
) -> None:
    switch = getattr(turn(settings, ListeningPage), box)
    before = switch.isChecked()
    for on in (not before, before):
        QTest.keyClick(switch, Qt.Key.Key_Space)
        assert intents.calls[-1] == (intent, on)


def test_copied_diagnostics_hold_the_state_and_no_words(settings: SettingsWindow) -> None:
    page = turn(settings, AboutPage)
    QTest.keyClick(page.copy, Qt.Key.Key_Space)
    copied = QGuiApplication.clipboard().text()
    assert "State: listening" in copied
    assert "Qt " in copied
    spoken = [line.stable for line in shown().lines]
    assert spoken
    assert not any(words in copied for words in spoken)
    assert page.shown.toPlainText() == copied
    assert page.done.text().startswith("Copied")


def test_diagnostics_are_saved_as_they_are_shown_or_it_is_said_why_not(
    settings: SettingsWindow, tmp_path: Path
) -> None:
    page = turn(settings, AboutPage)
    page.save_to(str(tmp_path / "facts.txt"))
    assert (tmp_path / "facts.txt").read_text() == page.shown.toPlainText()
    page.save_to(str(tmp_path / "none" / "facts.txt"))
    assert "cannot be written" in page.done.text()


def test_where_to_save_is_asked_beside_a_window_that_goes_on(qtbot: QtBot, settings: SettingsWindow) -> None:
    page = turn(settings, AboutPage)
    QTest.keyClick(page.save, Qt.Key.Key_Space)
    dialogs = [each for each in page.findChildren(QFileDialog) if each.isVisible()]
    assert len(dialogs) == 1
    dialogs[0].reject()
    qtbot.waitUntil(lambda: not page.findChildren(QFileDialog), timeout=15_000)


def test_a_search_shows_the_pages_on_which_something_matches_and_what(settings: SettingsWindow) -> None:
    QTest.keyClicks(settings.index.search, "tray keep")
    assert visible_pages(settings) == ["Listening\nKeep running in the tray when closed"]
    assert settings.heading.text() == "Listening"
    QTest.keyClick(settings.index.search, Qt.Key.Key_Return)
    assert isinstance(settings.shown, ListeningPage)
    assert QApplication.focusWidget() is settings.shown.close_to_tray
    settings.index.search.setText("zebra")
    assert visible_pages(settings) == []
    assert settings.index.nothing.text() == "Nothing in the settings matches “zebra”."


def test_a_page_that_is_called_so_comes_before_those_that_only_mention_it(settings: SettingsWindow) -> None:
    turn(settings, ListeningPage)
    settings.index.search.setText("microphone")
    assert len(visible_pages(settings)) > 1
    assert settings.heading.text() == "Microphone"


def test_what_was_found_is_scrolled_into_view(settings: SettingsWindow) -> None:
    settings.resize(settings.minimumSize())
    settings.index.search.setText("tray keep")
    QApplication.processEvents()
    area = settings.pages.currentWidget()
    assert area is not None
    assert isinstance(settings.shown, ListeningPage)
    found = settings.shown.close_to_tray
    top = found.mapTo(area, found.rect().topLeft()).y()
    assert 0 <= top < area.height()


def test_a_title_is_found_without_saying_what_matches(settings: SettingsWindow) -> None:
    QTest.keyClicks(settings.index.search, "ABOUT")
    assert visible_pages(settings)[-1] == "About"


def test_the_search_is_worked_with_keys_alone(settings: SettingsWindow) -> None:
    settings.activateWindow()
    page = turn(settings, AboutPage)
    page.copy.setFocus()
    QTest.keyClick(page.copy, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    search = settings.index.search
    assert QApplication.focusWidget() is search
    QTest.keyClicks(search, "m")
    assert len(visible_pages(settings)) > 1
    first = settings.heading.text()
    QTest.keyClick(search, Qt.Key.Key_Down)
    assert settings.heading.text() != first
    QTest.keyClick(search, Qt.Key.Key_Up)
    assert settings.heading.text() == first
    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert search.text() == ""
    assert settings.isVisible()
    assert len(visible_pages(settings)) == settings.index.list.count()


def test_pages_are_turned_with_keys_and_by_name(settings: SettingsWindow) -> None:
    settings.activateWindow()
    titles = [settings.index.title(number) for number in range(settings.index.list.count())]
    seen = []
    for _ in titles:
        seen.append(settings.heading.text())
        QTest.keyClick(settings.index.list, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert sorted(seen) == sorted(titles)
    settings.show_page("commands")
    assert isinstance(settings.shown, CommandsPage)
    assert settings.shown.isVisible()
    with pytest.raises(ValueError):
        settings.show_page("nowhere")


def test_a_page_that_a_search_hides_is_shown_all_the_same_when_it_is_asked_for(settings: SettingsWindow) -> None:
    settings.index.search.setText("tray")
    settings.show_page("about")
    assert isinstance(settings.shown, AboutPage)
    assert settings.shown.isVisible()
    assert settings.index.search.text() == ""


def test_enter_in_a_field_presses_no_button(settings: SettingsWindow) -> None:
    QGuiApplication.clipboard().setText("mine")
    QTest.keyClick(turn(settings, CommandsPage).search, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == "mine"
    assert settings.isVisible()


def test_the_window_behind_goes_on_and_esc_closes_the_settings(settings: SettingsWindow, window: MainWindow) -> None:
    assert not settings.isModal()
    window.show_snapshot(scenes.idle())
    assert window.state_bar.headline.text() == "Not listening"
    QTest.keyClick(settings, Qt.Key.Key_Escape)
    assert not settings.isVisible()
    assert window.isVisible()


def test_closed_settings_are_given_back_and_come_again_where_they_were(
    qtbot: QtBot, settings: SettingsWindow, window: MainWindow, theme: Theme
) -> None:
    turn(settings, ListeningPage)
    size = QSize(700, 520)
    settings.resize(size)
    with qtbot.waitSignal(settings.destroyed):
        settings.close()
    assert window.settings is None
    theme.use_scheme(Qt.ColorScheme.Dark)
    window.show_snapshot(scenes.idle())
    window.open_settings()
    assert window.settings is not None
    assert (window.settings.page, window.settings.size()) == ("Listening", size)
    window.open_settings("About")
    assert window.settings.page == "About"


@pytest.mark.parametrize("way", ["close", "turn"])
def test_leaving_while_a_key_is_waited_for_gives_the_key_back(
    qtbot: QtBot, window: MainWindow, settings: SettingsWindow, intents: RecordedIntents, way: str
) -> None:
    page = turn(settings, ListeningPage)
    # A window that is not in front has no focus to lose.
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=15_000)
    page.ways.key.click()
    assert page.ways.key.waits
    if way == "close":
        settings.close()
    else:
        settings.show_page("Microphone")
    assert [call for call in intents.calls if call[0] == "listen_for_key"] == [
        ("listen_for_key", True),
        ("listen_for_key", False),
    ]


def test_words_from_elsewhere_are_never_taken_for_mark_up(settings: SettingsWindow, window: MainWindow) -> None:
    told = "<b>told</b>"
    server = ServerView(ServerKind.REMOTE, ServerState.REFUSED, "wss://host/v1/realtime", detail=told)
    snapshot = replace(
        shown(),
        server=server,
        microphone=replace(scenes.listening().microphone, name=told, detail=told),
        engine=EngineView(fault=told),
        memory=replace(MemoryView(), fault=told),
        servers=RemoteServerView(server.url, tried_url=server.url, finding=Finding(False, "refused", told, told)),
    )
    seen = set()
    for page in PAGES:
        settings.show_page(page.title)
        window.show_snapshot(snapshot)
        labels = [label for label in window.findChildren(QLabel) if told in label.text()]
        assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels), page.title
        seen |= {page.title for label in labels if settings.isAncestorOf(label)}
    assert {"Microphone", "Server", "Engine", "Sessions and memory"} <= seen
