"""The page about commands, by mouse and keyboard, with the real matcher's checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
import scenes
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from sayso.app.commands.grammar import Grammar
from sayso.app.commands.own import OwnCommand, OwnKind, explanation, value_problem
from sayso.app.commands.own_phrase import phrase_problem
from sayso.app.commands_view import CommandRow, CommandsView, Problems
from sayso.ui.commands_page import CommandsPage
from sayso.ui.own_command_dialog import OwnCommandDialog
from sayso.ui.theme import Theme

MORNING = OwnCommand("good morning everybody", OwnKind.TEXT, "Hello")
ROWS = (
    CommandRow("own.1", MORNING.phrase, explanation(MORNING), own=MORNING),
    CommandRow("volume.change", "volume up", "Makes it louder or quieter"),
    CommandRow("volume.mute", "mute", "Mutes the sound", on=False),
    CommandRow("windows.close", "close window", "Closes the window in front"),
    CommandRow("listening.start", "start listening", "Wakes Sayso", always_on=True),
)


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.load(own=[MORNING])


@dataclass
class Book:
    """Intents that are written down, with real checks."""

    grammar: Grammar
    calls: list[tuple[object, ...]] = field(default_factory=list)

    def check(self, own: OwnCommand, replacing: str = "") -> Problems:
        phrase = phrase_problem(own.phrase, self.grammar, replacing=replacing)
        return Problems(phrase, value_problem(own, {"PATH": "/usr/bin:/bin"}))

    def add(self, own: OwnCommand) -> None:
        self.calls.append(("add", own))

    def change(self, intent: str, own: OwnCommand) -> None:
        self.calls.append(("change", intent, own))

    def remove(self, intent: str) -> None:
        self.calls.append(("remove", intent))

    def switch(self, intents: Collection[str], on: bool) -> None:
        self.calls.append(("switch", tuple(intents), on))


@pytest.fixture
def book(grammar: Grammar) -> Book:
    return Book(grammar)


def intents_of(book: Book) -> Any:
    return SimpleNamespace(commands=book)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, book: Book) -> Iterator[CommandsPage]:
    made = CommandsPage(intents_of(book), theme)
    qtbot.addWidget(made)
    made.resize(640, 520)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    show(made)
    yield made
    made.close()


def show(page: CommandsPage, *rows: CommandRow) -> None:
    page.show_snapshot(replace(scenes.idle(), commands=CommandsView(rows or ROWS)))


def visible(page: CommandsPage) -> list[str]:
    return [item.text(0) for item in page._items.values() if not item.isHidden()]


def choose(page: CommandsPage, intent: str) -> None:
    page.list.setFocus()
    page.list.setCurrentItem(page._items[intent])


def dialog_of(page: CommandsPage) -> OwnCommandDialog:
    (dialog,) = page.findChildren(OwnCommandDialog)
    QApplication.processEvents()
    return dialog


def test_commands_stand_in_families_the_users_own_first(page: CommandsPage) -> None:
    titles = [page.list.topLevelItem(number).text(0) for number in range(page.list.topLevelItemCount())]  # type: ignore[union-attr]
    assert titles == ["Your own", "Volume", "Windows", "Listening"]
    assert page.count.text() == "5 commands, 1 switched off"


def test_commands_are_found_by_any_of_their_words_and_their_family(page: CommandsPage) -> None:
    QTest.keyClicks(page.search, "Louder")
    assert visible(page) == ["volume up"]
    assert page.count.text() == "1 of 5 commands, 1 switched off"
    page.search.setText("own")
    assert "good morning everybody" in visible(page)
    page.search.clear()
    assert len(visible(page)) == 5


def test_showing_asks_for_nothing(page: CommandsPage, book: Book) -> None:
    show(page, *(replace(row, on=not row.on) for row in ROWS))
    show(page, *ROWS[1:])
    show(page)
    assert book.calls == []


def test_a_command_is_switched_with_the_keyboard_and_a_family_as_a_whole(page: CommandsPage, book: Book) -> None:
    choose(page, "volume.change")
    QTest.keyClick(page.list, Qt.Key.Key_Space)
    assert book.calls == [("switch", ("volume.change",), False)]
    show(page, *(replace(row, on=False) if row.intent == "volume.change" else row for row in ROWS))
    book.calls.clear()
    page.list.setCurrentItem(page._families["volume"])
    QTest.keyClick(page.list, Qt.Key.Key_Space)
    assert book.calls == [("switch", ("volume.change", "volume.mute"), True)]


def test_a_family_shows_whether_all_some_or_none_of_it_is_understood(page: CommandsPage) -> None:
    assert page._families["volume"].checkState(0) is Qt.CheckState.PartiallyChecked
    assert page._families["windows"].checkState(0) is Qt.CheckState.Checked
    show(page, *(replace(row, on=row.own is not None) for row in ROWS))
    assert page._families["volume"].checkState(0) is Qt.CheckState.Unchecked


def test_what_wakes_sayso_cannot_be_switched_off(page: CommandsPage, book: Book) -> None:
    choose(page, "listening.start")
    QTest.keyClick(page.list, Qt.Key.Key_Space)
    assert book.calls == []


def test_only_own_commands_can_be_changed_and_removed(page: CommandsPage) -> None:
    choose(page, "volume.mute")
    assert not page.change.isEnabled()
    assert not page.remove.isEnabled()
    choose(page, "own.1")
    assert page.change.isEnabled()
    assert page.remove.isEnabled()


def test_one_is_added_with_the_keyboard_alone(page: CommandsPage, book: Book) -> None:
    page.add.setFocus()
    QTest.keyClick(page.add, Qt.Key.Key_Space)
    dialog = dialog_of(page)
    QTest.keyClicks(dialog.phrase, "lights in the garden")
    QTest.keyClick(dialog.kind, Qt.Key.Key_End)
    QTest.keyClicks(dialog.value, "sh -c true")
    assert dialog.save.isEnabled()
    QTest.keyClick(dialog.value, Qt.Key.Key_Return)
    assert book.calls == [("add", OwnCommand("lights in the garden", OwnKind.PROGRAM, "sh -c true"))]
    assert isinstance(book.calls[0][1].kind, OwnKind)  # type: ignore[attr-defined]


def test_what_stands_against_a_command_is_told_while_it_is_written(page: CommandsPage, book: Book) -> None:
    page.add.click()
    dialog = dialog_of(page)
    assert not dialog.phrase_problem.isVisible(), "nobody is told off for what they have not written yet"
    assert not dialog.save.isEnabled()
    QTest.keyClicks(dialog.phrase, "volume up")
    assert "does something already" in dialog.phrase_problem.text()
    assert dialog.phrase_problem.isVisible()
    assert dialog.phrase.accessibleDescription() == dialog.phrase_problem.text()
    QTest.keyClicks(dialog.value, "Ctrl+Nothing")
    assert "no keys" in dialog.value_problem.text()
    QTest.keyClick(dialog.value, Qt.Key.Key_Return)
    assert book.calls == []
    dialog.phrase.selectAll()
    QTest.keyClicks(dialog.phrase, "lights in the garden")
    dialog.value.selectAll()
    QTest.keyClicks(dialog.value, "Ctrl+K")
    assert dialog.save.isEnabled()
    dialog.reject()


def test_one_is_changed_in_its_place_and_is_no_rival_of_its_own(page: CommandsPage, book: Book) -> None:
    choose(page, "own.1")
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    dialog = dialog_of(page)
    assert dialog.command == MORNING
    assert dialog.save.isEnabled()
    dialog.phrase.end(False)
    QTest.keyClicks(dialog.phrase, " here")
    dialog.save.click()
    assert book.calls == [("change", "own.1", OwnCommand("good morning everybody here", OwnKind.TEXT, "Hello"))]


@pytest.mark.parametrize(("button", "calls"), [("Remove", [("remove", "own.1")]), ("Cancel", [])])
def test_one_is_removed_after_a_question(page: CommandsPage, book: Book, button: str, calls: list[Any]) -> None:
    choose(page, "own.1")
    QTest.keyClick(page.list, Qt.Key.Key_Delete)
    (box,) = page.findChildren(QMessageBox)
    (wanted,) = [each for each in box.findChildren(QPushButton) if each.text() == button]
    wanted.click()
    assert book.calls == calls


def test_another_one_that_took_its_number_meanwhile_is_not_removed(page: CommandsPage, book: Book) -> None:
    choose(page, "own.1")
    page.remove.click()
    other = OwnCommand("good evening everybody", OwnKind.TEXT, "Bye")
    show(page, CommandRow("own.1", other.phrase, explanation(other), own=other), *ROWS[1:])
    (box,) = page.findChildren(QMessageBox)
    next(each for each in box.findChildren(QPushButton) if each.text() == "Remove").click()
    assert book.calls == []


def test_a_change_keeps_what_is_open_and_where_the_keyboard_is(page: CommandsPage) -> None:
    page._families["windows"].setExpanded(False)
    choose(page, "volume.mute")
    show(page, *ROWS[1:])
    assert not page._families["windows"].isExpanded()
    assert page.current is not None
    assert page.current.intent == "volume.mute"


def test_every_control_of_the_dialog_has_a_name_and_is_reached_with_tab(page: CommandsPage) -> None:
    page.add.click()
    dialog = dialog_of(page)
    QTest.keyClicks(dialog.phrase, "lights in the garden")
    QTest.keyClicks(dialog.value, "Ctrl+K")
    dialog.activateWindow()
    dialog.phrase.setFocus()
    reached = [dialog.phrase]
    for _ in range(5):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())  # type: ignore[arg-type]
    for control in (dialog.phrase, dialog.kind, dialog.value, dialog.save):
        assert control in reached
        assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip(), control
    dialog.reject()


def write_and_escape(page: CommandsPage, phrase: str) -> None:
    dialog = dialog_of(page)
    dialog.phrase.clear()
    QTest.keyClicks(dialog.phrase, phrase)
    QTest.keyClick(dialog.phrase, Qt.Key.Key_Escape)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()


def test_a_command_that_esc_closed_is_kept_and_gone_on_with(page: CommandsPage, book: Book) -> None:
    page.add.click()
    write_and_escape(page, "good evening")
    assert page.unsaved.isVisible()
    assert page.unsaved.words.text() == "Not saved: your command “good evening”."
    QTest.keyClick(page.unsaved.go, Qt.Key.Key_Space)
    dialog = dialog_of(page)
    assert dialog.phrase.text() == "good evening"
    assert not page.unsaved.isVisible()
    QTest.keyClicks(dialog.value, "Ctrl+E")
    dialog.save.click()
    assert book.calls == [("add", OwnCommand("good evening", OwnKind.KEYS, "Ctrl+E"))]
    assert not page.unsaved.isVisible()


def test_cancel_drops_what_was_written(page: CommandsPage) -> None:
    page.add.click()
    dialog = dialog_of(page)
    QTest.keyClicks(dialog.phrase, "good evening")
    dialog.buttons.button(dialog.buttons.StandardButton.Cancel).click()
    assert not page.unsaved.isVisible()
    assert page.draft() is None


def test_the_change_of_a_command_is_gone_on_with_as_that_change(page: CommandsPage, book: Book) -> None:
    choose(page, "own.1")
    page.change.click()
    write_and_escape(page, "good morning dear people")
    page.unsaved.go.click()
    dialog = dialog_of(page)
    dialog.save.click()
    changed = OwnCommand("good morning dear people", MORNING.kind, MORNING.value)
    assert book.calls == [("change", "own.1", changed)]


def test_what_is_written_goes_from_a_page_that_ends_to_the_next_one(
    page: CommandsPage, qtbot: QtBot, theme: Theme, book: Book
) -> None:
    page.add.click()
    write_and_escape(page, "good evening")
    choose(page, "own.1")
    page.change.click()
    QTest.keyClicks(dialog_of(page).phrase, " and all")
    page.search.setText("volume")
    draft = page.draft()
    assert draft is not None
    assert draft.told == "2 commands of yours"
    again = CommandsPage(intents_of(book), theme)
    qtbot.addWidget(again)
    show(again)
    again.take_up(draft)
    again.show()
    assert again.search.text() == "volume"
    assert again.unsaved.words.text() == "Not saved: your command “good morning everybody and all”. 1 more after it."
    again.unsaved.discard.click()
    assert again.unsaved.words.text() == "Not saved: your command “good evening”."
    again.unsaved.discard.click()
    assert not again.unsaved.isVisible()


def test_a_search_alone_is_kept_and_not_told(page: CommandsPage) -> None:
    page.search.setText("volume")
    draft = page.draft()
    assert draft is not None
    assert draft.told == ""
