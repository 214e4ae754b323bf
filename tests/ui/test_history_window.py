"""The history window over a real file: what is seen, found, copied, exported and deleted, by mouse and keyboard."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import scenes
from conftest import RecordedIntents
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sayso.app.history.entry import Entry
from sayso.app.history.store import Store
from sayso.app.history.view import FOREVER, Found, HistoryView, Rows
from sayso.app.snapshot import FeedState, LineKind
from sayso.ui.history_model import DONE, PROGRAM, TIME, WORDS
from sayso.ui.history_window import HistoryWindow, days_words
from sayso.ui.main_window import MainWindow


class KeptHistory:
    """The intents over a real file; rows come a turn of the event loop later."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self.store._connection.execute("PRAGMA synchronous = OFF")
        self.days: list[int] = []
        self.older = 0
        self.exported: list[tuple[list[Rows], Path]] = []
        self.asked: list[Rows] = []

    def add(self, *texts: str) -> None:
        for text in texts:
            self.store.add(Entry(scenes.START, 1.0, text, LineKind.PLAIN))

    def set_days(self, days: int) -> None:
        self.days.append(days)

    def count_older(self, days: int, answer: Callable[[int], None]) -> None:
        answer(self.older)

    def find(self, query: str, answer: Callable[[Found], None]) -> None:
        answer(self.store.find(query))

    def rows(self, found: Found, rows: Rows, answer: Callable[[tuple[Entry, ...]], None]) -> None:
        self.asked.append(rows)
        QTimer.singleShot(0, lambda: answer(self.store.rows(found, rows)))

    def words(self, found: Found, parts: Sequence[Rows], answer: Callable[[str], None]) -> None:
        answer("\n".join(entry.text for entry in self.store.each(found, parts)))

    def export(self, found: Found, parts: list[Rows], path: Path, answer: Callable[[str], None]) -> None:
        self.exported.append((parts, path))
        answer("1 utterance written.")

    def delete(self, found: Found, parts: Sequence[Rows]) -> None:
        self.store.delete(found, parts)

    def delete_all(self) -> None:
        self.store.delete_all()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptHistory]:
    made = KeptHistory(tmp_path / "history")
    made.add("open the garden gate", "Grüße aus Köln", "the weather is nice")
    done = Entry(scenes.START, 1.0, "Volume up.", LineKind.COMMAND, "Turn the volume up", FeedState.DONE, "XTerm")
    made.store.add(done)
    yield made
    made.store.close()


@pytest.fixture
def history(qtbot: QtBot, window: MainWindow, intents: RecordedIntents, kept: KeptHistory) -> Iterator[HistoryWindow]:
    intents.history = kept
    show(window, kept)
    window.open_history()
    assert window.history is not None
    with qtbot.waitExposed(window.history):
        pass
    yield window.history
    if window.history is not None:
        window.history.close()


def show(window: MainWindow, kept: KeptHistory, revision: int = 1, days: int = 30) -> None:
    view = HistoryView(days, kept.store.total(), revision, "history.sqlite3")
    window.show_snapshot(replace(scenes.idle(), history=view))


def words(history: HistoryWindow) -> list[str]:
    model = history.model
    for row in range(model.rowCount()):
        model.entry(row)
    QApplication.processEvents()
    return [str(model.data(model.index(row, WORDS))) for row in range(model.rowCount())]


def select(history: HistoryWindow, *rows: int) -> None:
    flag = QItemSelectionModel.SelectionFlag
    history.activateWindow()
    history.table.setFocus()
    history.table.clearSelection()
    for row in rows:
        history.table.selectionModel().select(history.model.index(row, 0), flag.Select | flag.Rows)


def answer(history: HistoryWindow, button: str) -> None:
    (box,) = history.findChildren(QMessageBox)
    (wanted,) = [each for each in box.findChildren(QPushButton) if each.text() == button]
    wanted.click()
    QApplication.processEvents()


def test_utterances_are_listed_the_newest_first_with_what_was_done(history: HistoryWindow) -> None:
    assert words(history) == ["Volume up.", "the weather is nice", "Grüße aus Köln", "open the garden gate"]
    model = history.model
    assert model.data(model.index(0, DONE)) == "Turn the volume up: done"
    assert model.data(model.index(0, PROGRAM)) == "XTerm"
    assert model.data(model.index(1, DONE)) == "No command"
    assert str(model.data(model.index(0, TIME))).startswith("2026-")
    assert history.status.text() == "4 utterances"


def test_the_keyboard_begins_at_the_search(history: HistoryWindow) -> None:
    assert history.focusWidget() is history.search


def test_what_is_typed_is_searched_for(qtbot: QtBot, history: HistoryWindow) -> None:
    QTest.keyClick(history, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(QApplication.focusWidget(), "grusse")
    qtbot.waitUntil(lambda: words(history) == ["Grüße aus Köln"], timeout=15_000)
    assert history.status.text() == "1 of 4 utterances"
    history.search.setText("nothing at all")
    qtbot.waitUntil(lambda: words(history) == [], timeout=15_000)
    assert "nothing at all" in history.empty.text()


def test_what_is_said_meanwhile_comes_on_top_and_the_selection_stays_on_its_words(
    history: HistoryWindow, window: MainWindow, kept: KeptHistory
) -> None:
    select(history, 1)
    kept.add("one more")
    show(window, kept, revision=2)
    assert words(history)[0] == "one more"
    QTest.keyClick(history.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "the weather is nice"


def test_selected_words_are_copied_and_typed_again(history: HistoryWindow, intents: RecordedIntents) -> None:
    select(history, 0, 1)
    history.copy.click()
    assert QGuiApplication.clipboard().text() == "the weather is nice\nVolume up."
    intents.calls.clear()
    history.again.click()
    assert intents.calls == [("insert", "the weather is nice Volume up.")]


def test_one_is_deleted_at_once_and_several_after_a_question(
    history: HistoryWindow, window: MainWindow, kept: KeptHistory
) -> None:
    select(history, 0)
    QTest.keyClick(history.table, Qt.Key.Key_Delete)
    show(window, kept, revision=2)
    assert words(history) == ["the weather is nice", "Grüße aus Köln", "open the garden gate"]
    select(history, 0, 1)
    history.delete.click()
    answer(history, "Cancel")
    assert kept.store.total() == 3
    history.delete.click()
    answer(history, "Delete")
    show(window, kept, revision=3)
    assert words(history) == ["open the garden gate"]


def test_everything_is_deleted_after_a_question(history: HistoryWindow, window: MainWindow, kept: KeptHistory) -> None:
    history.delete_all.click()
    assert kept.store.total() == 4
    answer(history, "Delete all")
    show(window, kept, revision=2)
    assert words(history) == []
    assert not history.delete_all.isEnabled()
    assert not history.export.isEnabled()


def test_how_long_is_chosen_with_the_keyboard_and_a_loss_is_asked_about(
    history: HistoryWindow, kept: KeptHistory
) -> None:
    history.keep.setFocus()
    QTest.keyClick(history.keep, Qt.Key.Key_Down)
    assert kept.days == [90]
    kept.older = 4
    QTest.keyClick(history.keep, Qt.Key.Key_Home)
    assert kept.days == [90]
    (box,) = history.findChildren(QMessageBox)
    assert "everything kept so far: 4 utterances" in box.text()
    answer(history, "Cancel")
    assert kept.days == [90]
    assert history.keep.currentText() == "30 days"


def test_the_window_says_that_nothing_is_kept_until_chosen(
    history: HistoryWindow, window: MainWindow, kept: KeptHistory
) -> None:
    kept.store.delete_all()
    show(window, kept, revision=2, days=0)
    assert history.empty.isVisible()
    assert history.empty.text().startswith("Nothing is kept")
    assert history.keep.currentText() == "Nothing"


@pytest.mark.parametrize(("suffix", "filter_"), [("srt", 2), ("csv", 1), ("txt", 0)])
def test_rows_are_exported_in_the_format_that_is_chosen(
    history: HistoryWindow, kept: KeptHistory, tmp_path: Path, suffix: str, filter_: int
) -> None:
    select(history, 2)
    history.export_selected.trigger()
    (dialog,) = history.findChildren(QFileDialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.filterSelected.emit(dialog.nameFilters()[filter_])
    assert dialog.defaultSuffix() == suffix
    dialog.fileSelected.emit(str(tmp_path / f"said.{suffix}"))
    dialog.reject()
    assert kept.exported == [([Rows(2, 2)], tmp_path / f"said.{suffix}")]
    assert history.status.text() == "1 utterance written."


def test_a_name_without_a_known_format_becomes_text(history: HistoryWindow, kept: KeptHistory, tmp_path: Path) -> None:
    history._export(history.model.found, [Rows(0, 3)], tmp_path / "said.2026")
    assert kept.exported[0][1].name == "said.2026.txt"


@pytest.mark.parametrize(("button", "written"), [("Replace", 1), ("Cancel", 0)])
def test_a_file_that_the_dialog_did_not_ask_about_is_asked_about(
    history: HistoryWindow, kept: KeptHistory, tmp_path: Path, button: str, written: int
) -> None:
    (tmp_path / "said.2026.txt").write_text("something else")
    history._export(history.model.found, [Rows(0, 3)], tmp_path / "said.2026")
    assert kept.exported == []
    answer(history, button)
    assert len(kept.exported) == written


def test_every_control_is_reached_with_tab_and_has_a_name(history: HistoryWindow) -> None:
    select(history, 0)
    history.activateWindow()
    history.keep.setFocus()
    reached = [history.keep]
    for _ in range(10):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    controls = [
        history.keep,
        history.search,
        history.table,
        history.copy,
        history.again,
        history.export,
        history.delete,
        history.delete_all,
    ]
    places = [reached.index(control) for control in controls]
    assert places == sorted(places)
    for control in controls:
        assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip(), control


def test_esc_closes_it_and_the_window_behind_goes_on(history: HistoryWindow, window: MainWindow) -> None:
    assert not history.isModal()
    QTest.keyClick(history, Qt.Key.Key_Escape)
    assert not history.isVisible()
    assert window.isVisible()


def test_answers_that_come_after_it_was_closed_are_of_no_use(
    qtbot: QtBot, history: HistoryWindow, window: MainWindow, kept: KeptHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Callable[[], None]] = []
    monkeypatch.setattr(kept, "find", lambda query, answer: late.append(partial(answer, kept.store.find(query))))
    monkeypatch.setattr(kept, "count_older", lambda days, answer: late.append(partial(answer, 3)))
    history.look()
    history._wish_days(1)
    history.close()
    qtbot.waitUntil(lambda: not isValid(history), timeout=15_000)
    for answer in late:
        answer()
    assert window.history is None
    assert kept.days == []


def test_a_hundred_thousand_rows_ask_for_what_is_seen_only_and_take_the_memory_of_some_pages(
    history: HistoryWindow, kept: KeptHistory
) -> None:
    big = Found("", 100_000, 100_000)
    page = tuple(Entry(scenes.START, 1.0, f"words {number}", LineKind.PLAIN) for number in range(100))
    history.model._fetch = lambda found, rows, answer: (kept.asked.append(rows), answer(page))[1]
    kept.asked.clear()
    tracemalloc.start()
    history.model.show_found(big)
    QApplication.processEvents()
    for row in range(0, 100_000, 2_500):
        history.table.scrollTo(history.model.index(row, 0))
        QApplication.processEvents()
    history.table.selectAll()
    assert history.selected() == [Rows(0, 99_999)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(history.model._pages) <= 12
    assert len(kept.asked) < 120
    assert peak < 3_000_000
    assert history.model.rowCount(QModelIndex()) == 100_000


@pytest.mark.parametrize(("days", "text"), [(0, "Nothing"), (1, "1 day"), (30, "30 days"), (FOREVER, "Until deleted")])
def test_days_are_told_in_words(days: int, text: str) -> None:
    assert days_words(days) == text
