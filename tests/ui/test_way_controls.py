"""The controls of the ways to listen and of the overlay: each asks for its own change, and shows what is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import OptionsView, Snapshot
from sayso.app.ways_view import OverlayPlace, Way, WaysView
from sayso.ui.listening_page import ListeningPage
from sayso.ui.theme import Theme

KEY = "Ctrl+Alt+Space"


def shown(ways: WaysView, **options: object) -> Snapshot:
    return replace(scenes.listening(), ways=ways, options=replace(OptionsView(), **options))


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, intents: RecordedIntents) -> Iterator[ListeningPage]:
    made = ListeningPage(intents, theme)
    made.show_snapshot(shown(WaysView(phrase="hey sayso")))
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    qtbot.waitUntil(lambda: made.isActiveWindow(), timeout=15_000)
    intents.calls.clear()
    yield made
    made.hide()
    made.deleteLater()


def test_showing_asks_for_nothing(page: ListeningPage, intents: RecordedIntents) -> None:
    for way in Way:
        ways = WaysView(way, KEY, key_works=True, phrase="computer", asks_phrase=True)
        page.show_snapshot(shown(ways, overlay=False, overlay_place=OverlayPlace.TOP))
        page.show_snapshot(shown(WaysView(phrase="hey sayso")))
    assert intents.calls == []


@pytest.mark.parametrize("way", [Way.TOGGLE, Way.HOLD])
def test_a_way_is_chosen(page: ListeningPage, intents: RecordedIntents, way: Way) -> None:
    page.ways.buttons[way].toggle()
    assert intents.calls == [("use_way", way)]


def test_a_key_is_pressed_and_asked_for(page: ListeningPage, intents: RecordedIntents) -> None:
    page.show_snapshot(shown(WaysView(Way.HOLD, KEY, key_works=True)))
    page.ways.key.setFocus()
    QTest.keyClick(page.ways.key, Qt.Key.Key_Space)
    QTest.keyClick(page.ways.key, Qt.Key.Key_F9)
    assert intents.calls == [("listen_for_key", True), ("listen_for_key", False), ("use_key", "F9")]
    QTest.keyClick(page.ways.remove, Qt.Key.Key_Space)
    assert intents.calls[-1] == ("use_key", "")


def test_the_key_belongs_to_the_way(page: ListeningPage) -> None:
    for way, name in (
        (Way.HANDS_FREE, "Key that sends Sayso to sleep and wakes it"),
        (Way.TOGGLE, "Key that starts and stops"),
        (Way.HOLD, "Key to hold"),
    ):
        page.show_snapshot(shown(WaysView(way, KEY, key_works=True)))
        assert page.ways.key.accessibleName() == name
        assert page.ways.key.text() == KEY


def test_why_a_key_does_not_work_stands_beside_it(page: ListeningPage) -> None:
    page.show_snapshot(shown(WaysView(Way.HOLD, KEY, key_detail="Another program has taken it.")))
    assert page.ways.key_detail.text() == "Another program has taken it."
    assert page.ways.key_detail.property("tone") == "bad"
    page.show_snapshot(shown(WaysView(Way.HOLD, "")))
    assert "Choose a key" in page.ways.key_detail.text()
    assert not page.ways.remove.isEnabled()
    page.show_snapshot(shown(WaysView(Way.HOLD, KEY, key_works=True)))
    assert not page.ways.key_detail.isVisible()


def test_the_wake_phrase_is_written_and_asked_for_once(page: ListeningPage, intents: RecordedIntents) -> None:
    page.ways.phrase.setFocus()
    page.ways.phrase.selectAll()
    QTest.keyClicks(page.ways.phrase, "computer")
    page.show_snapshot(shown(WaysView(phrase="hey sayso")))
    assert page.ways.phrase.text() == "computer"
    QTest.keyClick(page.ways.phrase, Qt.Key.Key_Return)
    page.wait.setFocus()
    assert intents.calls == [("set_phrase", "computer")]
    QTest.keyClick(page.ways.asks_phrase, Qt.Key.Key_Space)
    assert intents.calls[-1] == ("ask_phrase", True)


def test_the_phrase_can_be_asked_for_hands_free_only_and_where_there_is_one(page: ListeningPage) -> None:
    assert page.ways.asks_phrase.isVisible()
    page.show_snapshot(shown(WaysView()))
    assert not page.ways.asks_phrase.isEnabled()
    page.show_snapshot(shown(WaysView(Way.HOLD, KEY, phrase="hey sayso")))
    assert not page.ways.asks_phrase.isVisible()


def test_the_pause_is_offered_where_it_counts(page: ListeningPage) -> None:
    assert page.wait.isVisible()
    page.show_snapshot(shown(WaysView(Way.HOLD, KEY)))
    assert not page.wait.isVisible()


def test_where_a_key_starts_it_the_start_is_not_offered(page: ListeningPage) -> None:
    page.show_snapshot(shown(WaysView(Way.TOGGLE, KEY)))
    assert not page.listens_at_start.isEnabled()


def test_where_no_overlay_can_be_placed_messages_are_switched_instead(
    qtbot: QtBot, theme: Theme, intents: RecordedIntents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.ui.overlay_controls.can_show", lambda: False)
    made = ListeningPage(intents, theme)
    qtbot.addWidget(made)
    made.show_snapshot(shown(WaysView()))
    assert "messages" in made.overlay.shown.text()
    assert made.overlay.place.isHidden()
    made.overlay.shown.click()
    assert intents.calls == [("set_overlay", False)]


def test_the_overlay_is_switched_and_placed(page: ListeningPage, intents: RecordedIntents) -> None:
    QTest.keyClick(page.overlay.shown, Qt.Key.Key_Space)
    page.overlay.place.setFocus()
    QTest.keyClick(page.overlay.place, Qt.Key.Key_Down)
    assert intents.calls == [("set_overlay", False), ("place_overlay", OverlayPlace.TOP)]
    page.show_snapshot(shown(WaysView(), overlay=False, overlay_place=OverlayPlace.TOP_LEFT))
    assert not page.overlay.place.isEnabled()
    assert page.overlay.place.currentText() == "In the upper left corner"


def test_every_mnemonic_of_the_page_is_there_once(page: ListeningPage) -> None:
    from PySide6.QtWidgets import QAbstractButton, QLabel

    texts = [widget.text() for kind in (QAbstractButton, QLabel) for widget in page.findChildren(kind)]
    letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
    assert sorted(letters) == sorted(set(letters))
    QApplication.processEvents()
