"""Windows beside the main one end when they are closed, come again as they were, and lose nothing that was typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import scenes
from conftest import RecordedIntents, turn
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sayso.app.engine_view import EngineView
from sayso.app.first_run_view import FirstRunView, Step
from sayso.app.remote_server_view import RemoteServerView
from sayso.app.snapshot import Snapshot
from sayso.ui.engine_page import EnginePage
from sayso.ui.listening_page import ListeningPage
from sayso.ui.main_window import MainWindow
from sayso.ui.privacy_page import PrivacyPage
from sayso.ui.server_page import ServerPage
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_window import SettingsWindow

URL = scenes.REMOTE.url
KEY = "s3cret-of-the-tests"


def remote() -> Snapshot:
    return scenes.snapshot(server=scenes.REMOTE, servers=RemoteServerView(URL))


def opened(window: MainWindow, qtbot: QtBot, page: str = "") -> SettingsWindow:
    window.open_settings(page)
    assert window.settings is not None
    qtbot.waitExposed(window.settings)
    window.settings.activateWindow()
    return window.settings


@pytest.fixture
def settings(qtbot: QtBot, window: MainWindow, intents: RecordedIntents) -> Iterator[SettingsWindow]:
    window.show_snapshot(remote())
    yield opened(window, qtbot)
    if window.settings is not None:
        window.settings.close()


def type_server(settings: SettingsWindow) -> None:
    """Another address and a key, by keyboard."""
    form = turn(settings, ServerPage).form
    form.address.setFocus()
    form.address.selectAll()
    QTest.keyClicks(form.address, "speech.example.org")
    form.key.setFocus()
    QTest.keyClicks(form.key, KEY)


def notices(window: MainWindow) -> list[str]:
    return [row.button.accessibleName() for row in window.notices.rows()]


def asked(intents: RecordedIntents, name: str) -> list[tuple[object, ...]]:
    return [call for call in intents.calls if call[0] == name]


def test_what_was_typed_of_a_server_is_there_again_and_the_main_window_says_so(
    qtbot: QtBot, window: MainWindow, settings: SettingsWindow, intents: RecordedIntents
) -> None:
    type_server(settings)
    QTest.keyClick(settings, Qt.Key.Key_Escape)
    assert window.settings is None
    (notice,) = notices(window)
    assert "the address and the key of a server (page Server)" in notice
    assert KEY not in notice
    again = opened(window, qtbot)
    assert notices(window) == []
    form = turn(again, ServerPage).form
    assert (form.address.text(), form.key.text()) == ("speech.example.org", KEY)
    assert form.unused.isVisible()
    assert asked(intents, "use_remote") == []


def test_used_it_is_no_draft_any_more(qtbot: QtBot, window: MainWindow, settings: SettingsWindow) -> None:
    type_server(settings)
    form = turn(settings, ServerPage).form
    form.use.click()
    window.show_snapshot(replace(remote(), servers=RemoteServerView(form.url)))
    assert not form.unused.isVisible()
    settings.close()
    assert notices(window) == []


def test_a_key_is_held_back_by_no_more_than_a_dismissed_notice(
    qtbot: QtBot, window: MainWindow, settings: SettingsWindow, intents: RecordedIntents
) -> None:
    type_server(settings)
    settings.close()
    window.notices.rows()[0].button.click()
    assert notices(window) == []
    assert asked(intents, "dismiss") == []
    window.show_snapshot(remote())
    assert notices(window) == []
    again = opened(window, qtbot)
    form = turn(again, ServerPage).form
    assert form.key.text() == KEY
    # What is typed afterwards is another thing to tell of.
    form.key.setText("another")
    again.close()
    assert len(notices(window)) == 1


def test_on_another_page_the_window_says_what_is_not_in_use_and_leads_back(settings: SettingsWindow) -> None:
    type_server(settings)
    turn(settings, PrivacyPage)
    assert settings.draft_bar.isVisible()
    assert settings.draft_bar.words.text() == "Not in use yet: the address and the key of a server."
    QTest.keyClick(settings.draft_bar.go, Qt.Key.Key_Space)
    QApplication.processEvents()
    assert isinstance(settings.shown, ServerPage)
    assert settings.shown.form.key.text() == KEY
    assert not settings.draft_bar.isVisible()


def test_discarded_it_is_gone(window: MainWindow, settings: SettingsWindow) -> None:
    type_server(settings)
    turn(settings, PrivacyPage)
    QTest.keyClick(settings.draft_bar.discard, Qt.Key.Key_Space)
    assert not settings.draft_bar.isVisible()
    form = turn(settings, ServerPage).form
    assert (form.address.text(), form.key.text()) == (URL, "")
    settings.close()
    assert notices(window) == []


def test_half_an_address_is_kept_as_it_is(qtbot: QtBot, window: MainWindow, settings: SettingsWindow) -> None:
    form = turn(settings, ServerPage).form
    form.address.selectAll()
    QTest.keyClicks(form.address, "two words")
    settings.close()
    assert turn(opened(window, qtbot), ServerPage).form.address.text() == "two words"


def test_a_model_that_was_typed_is_kept_too(qtbot: QtBot, window: MainWindow, settings: SettingsWindow) -> None:
    form = turn(settings, ServerPage).form
    form.model.lineEdit().selectAll()
    QTest.keyClicks(form.model.lineEdit(), "base.en")
    settings.close()
    again = turn(opened(window, qtbot), ServerPage).form
    assert (again.address.text(), again.chosen_model) == (URL, "base.en")


def test_whoever_went_back_to_the_embedded_engine_is_not_reminded_but_loses_nothing(
    qtbot: QtBot, window: MainWindow, settings: SettingsWindow
) -> None:
    window.show_snapshot(scenes.snapshot())
    page = turn(settings, ServerPage)
    page.kind.buttons[1].click()
    type_server(settings)
    page = turn(settings, ServerPage)
    page.kind.buttons[0].click()
    settings.close()
    assert notices(window) == []
    page = turn(opened(window, qtbot), ServerPage)
    assert not page.form.isVisible()
    page.kind.buttons[1].click()
    assert page.form.key.text() == KEY


@pytest.mark.parametrize("leave", ["close", "turn"])
def test_a_wake_phrase_is_taken_when_its_page_is_left(
    settings: SettingsWindow, intents: RecordedIntents, leave: str
) -> None:
    phrase = turn(settings, ListeningPage).ways.phrase
    phrase.setFocus()
    QTest.keyClicks(phrase, "hey sayso")
    if leave == "close":
        QTest.keyClick(phrase, Qt.Key.Key_Escape)
    else:
        QTest.keyClick(phrase, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert asked(intents, "set_phrase") == [("set_phrase", "hey sayso")]


@pytest.mark.parametrize("leave", ["close", "turn"])
def test_a_number_that_was_typed_is_taken_when_its_page_is_left(
    window: MainWindow, settings: SettingsWindow, intents: RecordedIntents, leave: str
) -> None:
    window.show_snapshot(replace(remote(), engine=EngineView(most_threads=4)))
    threads = turn(settings, EnginePage).threads
    threads.setFocus()
    threads.selectAll()
    QTest.keyClicks(threads, "3")
    window.show_snapshot(replace(remote(), engine=EngineView(most_threads=4, fault="Something else.")))
    assert threads.text() == "3"
    if leave == "close":
        QTest.keyClick(threads, Qt.Key.Key_Escape)
    else:
        QTest.keyClick(threads, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert asked(intents, "use_threads") == [("use_threads", 3)]


def test_a_window_that_is_closed_is_gone_with_all_that_it_was_made_of(qtbot: QtBot, window: MainWindow) -> None:
    window.show_snapshot(remote())
    QApplication.processEvents()
    before = len(QApplication.allWidgets())
    for page in ("Engine", "Commands", "Sessions and memory"):
        settings = opened(window, qtbot, page)
        settings.close()
        qtbot.waitUntil(lambda settings=settings: not isValid(settings), timeout=15_000)
        assert len(QApplication.allWidgets()) == before


def test_pages_that_were_turned_to_leave_nothing_behind(qtbot: QtBot, settings: SettingsWindow) -> None:
    def once_round() -> int:
        for _ in range(settings.index.list.count()):
            settings.index.step(1)
        qtbot.waitUntil(lambda: len(settings.findChildren(SettingsPage)) == 1, timeout=15_000)
        return len(QApplication.allWidgets())

    before = once_round()
    assert once_round() == before


def guided(step: Step) -> Snapshot:
    return replace(scenes.snapshot(), guide=FirstRunView(True, step, 2, 4, ()))


def test_what_was_typed_in_the_guide_is_in_the_settings_afterwards(
    qtbot: QtBot, window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(guided(Step.SERVER))
    guide = window.guide
    assert guide is not None
    guide.server.kind.buttons[1].click()
    QTest.keyClicks(guide.server.form.address, "speech.example.org")
    window.show_snapshot(scenes.snapshot())
    qtbot.waitUntil(lambda: not isValid(guide), timeout=15_000)
    assert "the address of a server" in notices(window)[0]
    settings = opened(window, qtbot)
    assert turn(settings, ServerPage).form.address.text() == "speech.example.org"
    settings.close()


def test_the_guide_says_once_that_a_server_is_not_in_use_before_it_goes_on(
    window: MainWindow, intents: RecordedIntents
) -> None:
    window.show_snapshot(guided(Step.SERVER))
    assert window.guide is not None
    window.guide.server.kind.buttons[1].click()
    QTest.keyClicks(window.guide.server.form.address, "speech.example.org")
    window.guide.next.click()
    assert window.guide.about.text().startswith("Not in use yet: the address of a server.")
    assert asked(intents, "forward") == []
    window.guide.next.click()
    assert asked(intents, "forward") == [("forward",)]
    window.show_snapshot(scenes.snapshot())


def test_an_open_guide_leaves_what_was_typed_in_the_settings_alone(qtbot: QtBot, window: MainWindow) -> None:
    window.show_snapshot(guided(Step.SERVER))
    settings = opened(window, qtbot, "Server")
    window.show_snapshot(replace(guided(Step.SERVER), server=scenes.REMOTE, servers=RemoteServerView(URL)))
    type_server(settings)
    turn(settings, PrivacyPage)
    window.show_snapshot(replace(guided(Step.COMMANDS), server=scenes.REMOTE, servers=RemoteServerView(URL)))
    assert settings.draft_bar.isVisible()
    assert turn(settings, ServerPage).form.key.text() == KEY
    settings.close()
    window.show_snapshot(scenes.snapshot())
