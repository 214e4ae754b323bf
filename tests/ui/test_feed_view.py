from __future__ import annotations

from dataclasses import replace

import scenes
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import DICTATION, FeedItem, FeedState, Why
from sayso.ui.feed_row import FeedRow
from sayso.ui.feed_view import SHOWN, FeedView
from sayso.ui.theme import Theme


def view(qtbot: QtBot, theme: Theme) -> FeedView:
    result = FeedView(theme)
    qtbot.addWidget(result)
    result.resize(360, 500)
    with qtbot.waitExposed(result):
        result.show()
    return result


def test_an_item_shows_what_was_heard_what_it_does_and_how_it_went(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED)
    row = feed.rows()[2]
    assert row.title.text() == "Set the volume to 30 %"
    assert row.state.text() == "Done: It was 65 %"
    assert "set the volume" in row.heard.text()


def test_undo_is_offered_only_where_it_can_be_and_names_the_item(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED)
    # Qt shows a new row with the next turn of its event loop.
    QApplication.processEvents()
    assert [row.undo.isVisible() for row in feed.rows()] == [False, False, True, False]
    with qtbot.waitSignal(feed.undo_pressed) as pressed:
        feed.rows()[2].undo.click()
    assert pressed.args == [3]


def test_an_item_changes_in_place(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    running = FeedItem(1, "open Firefox", "Open Firefox", FeedState.RUNNING)
    feed.show_items((running,))
    row = feed.rows()[0]
    feed.show_items((replace(running, state=FeedState.DONE, can_undo=True),))
    assert feed.rows() == (row,)
    QApplication.processEvents()
    assert row.state.text() == "Done"
    assert row.undo.isVisible()


def test_the_newest_item_is_on_top(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED)
    QApplication.processEvents()
    tops = [row.y() for row in feed.rows()]
    assert tops == sorted(tops, reverse=True)


def test_rows_are_bounded_and_the_newest_stay(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    items = tuple(FeedItem(number, "x", f"Action {number}", FeedState.DONE) for number in range(250))
    feed.show_items(items)
    assert len(feed.rows()) == SHOWN
    assert feed.rows()[-1].item.id == 249


def test_an_unchanged_item_is_not_touched(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED)
    first = feed.rows()[0]
    shown: list[FeedItem] = []
    first.show_item = shown.append  # type: ignore[method-assign]
    feed.show_items((*scenes.FEED, FeedItem(9, "x", "New", FeedState.HEARD)))
    assert shown == []


def test_undoing_the_newest_takes_the_last_that_can_be_undone(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    assert not feed.undo_newest()
    feed.show_items(scenes.FEED)
    with qtbot.waitSignal(feed.undo_pressed) as pressed:
        assert feed.undo_newest()
    assert pressed.args == [3]


def test_the_empty_feed_says_what_will_be_here(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(())
    assert feed.empty.isVisible()
    feed.show_items(scenes.FEED)
    assert not feed.empty.isVisible()


def test_long_texts_do_not_widen_the_feed(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    address = "https://example.org/" + "path/" * 60
    feed.show_items((FeedItem(1, address, f"Open {address}", FeedState.DONE, address, True),))
    QApplication.processEvents()
    row = feed.rows()[0]
    assert row.width() <= feed.area.viewport().width()
    assert row.undo.geometry().right() <= row.width()


def test_rows_that_left_are_given_back(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    for number in range(300):
        feed.show_items(tuple(FeedItem(at, "x", f"Action {at}", FeedState.DONE) for at in range(number, number + 3)))
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert len(feed.findChildren(FeedRow)) == 3


def test_a_question_is_answered_with_its_buttons_or_for_the_newest_at_once(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    assert not feed.answer_newest(True)
    feed.show_items(scenes.question().feed)
    QApplication.processEvents()
    row = feed.rows()[-1]
    assert row.confirm.isVisible()
    assert row.refuse.isVisible()
    assert not any(each.confirm.isVisible() for each in feed.rows()[:-1])
    for signal, act in (
        (feed.confirm_pressed, row.confirm.click),
        (feed.refuse_pressed, row.refuse.click),
        (feed.confirm_pressed, lambda: feed.answer_newest(True)),
        (feed.refuse_pressed, lambda: feed.answer_newest(False)),
    ):
        with qtbot.waitSignal(signal) as pressed:
            act()
        assert pressed.args == [5]
    feed.show_items((replace(row.item, state=FeedState.REFUSED),))
    assert not row.confirm.isVisible()


def test_why_opens_and_closes_by_mouse_and_key_and_tells_words_match_and_times(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED)
    QApplication.processEvents()
    assert [row.why.isVisible() for row in feed.rows()] == [False, False, True, False]
    row = feed.rows()[2]
    QTest.mouseClick(row.why, Qt.MouseButton.LeftButton)
    assert row.details.isVisible()
    told = row.details.text().replace("\u200b", "")
    assert "Understood: “set the volume to 30 percent”, exactly a command" in told
    assert "volume.set" in told
    assert "words after 310 ms, decided after 4 ms, done after 88 ms" in told
    assert feed.explain_newest()
    assert not row.details.isVisible()
    row.why.setFocus()
    QTest.keyClick(row.why, Qt.Key.Key_Space)
    assert row.details.isVisible()


def test_screen_readers_meet_the_newest_action_first(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    feed.show_items(scenes.FEED[:2])
    feed.show_items(scenes.FEED)
    inside = QAccessible.queryAccessibleInterface(feed.area.widget())
    names = [inside.child(index).text(QAccessible.Text.Name) for index in range(inside.childCount())]
    assert [name.partition(":")[0] for name in names] == [item.title for item in reversed(scenes.FEED)]


def test_dictated_text_is_explained_as_text(qtbot: QtBot, theme: Theme) -> None:
    feed = view(qtbot, theme)
    why = Why(DICTATION, "see you on Friday", 0.0, 10.0, 10.5, 10.502, 10.6)
    feed.show_items((FeedItem(1, "see you on Friday", "Type what was said", FeedState.DONE, why=why),))
    told = feed.rows()[0].details.text().replace("\u200b", "")
    assert told.startswith("No command, so it is text")
    assert "words after 500 ms, decided after 2 ms, done after 98 ms" in told
