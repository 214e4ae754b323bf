"""What was said before: search, copy, type again, export, delete, and how long it is kept. Qt thread.

It stands beside the main window, which goes on working. ``show_snapshot`` and answers to what was asked are the only
ways in, ``HistoryIntents`` the way out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from sayso.app.history.export import Format
from sayso.app.history.view import CHOICES, FOREVER, OFF, Found, HistoryView, Rows
from sayso.app.snapshot import Snapshot
from sayso.ui.controls import ChoiceBox, hint
from sayso.ui.history_model import DONE, PROGRAM, TIME, WORDS, HistoryModel
from sayso.ui.intents import Intents
from sayso.ui.theme import Theme

_SEARCH_AFTER_MS = 150
_PRIVACY = (
    "Kept on this computer only, in a file that only you can read, and never with sound. "
    "What is said while Sayso is asleep is not kept."
)
_FILTERS = {
    Format.TEXT: "Text (*.txt)",
    Format.CSV: "Table, comma-separated (*.csv)",
    Format.SRT: "Subtitles (*.srt)",
}
_EMPTY, _TABLE = 0, 1

AnswerT = TypeVar("AnswerT")


def days_words(days: int) -> str:
    """How long utterances are kept, for people."""
    if days == OFF:
        return "Nothing"
    if days == FOREVER:
        return "Until deleted"
    return f"{days} day{'s' if days != 1 else ''}"


class HistoryWindow(QDialog):
    """Esc closes it, Ctrl+F searches, Ctrl+C copies the selected words, Del deletes them."""

    def __init__(self, intents: Intents, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._intents = intents
        self._history = intents.history
        self._theme = theme
        self._view: HistoryView | None = None
        self.setWindowTitle("History")
        self.keep = ChoiceBox(theme)
        self.keep.setAccessibleName("How long utterances are kept")
        for days in CHOICES:
            self.keep.addItem(days_words(days), days)
        self.keep.activated.connect(lambda index: self._wish_days(self.keep.itemData(index)))
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the history")
        self.search.setPlaceholderText("Search")
        self.search.setClearButtonEnabled(True)
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(_SEARCH_AFTER_MS)
        self._waiting.timeout.connect(self.look)
        self.search.textChanged.connect(lambda: self._waiting.start())
        self.model = HistoryModel(self._history.rows)
        self.table = self._table()
        self.empty, self.status = hint(), hint()
        self._buttons()
        self._lay_out()
        self._add_shortcuts()
        self._offer()

    def _table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName("Utterances")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(self._theme.spacing.times(7))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(WORDS, QHeaderView.ResizeMode.Stretch)
        for column, units in ((TIME, 34), (DONE, 50), (PROGRAM, 26)):
            table.setColumnWidth(column, self._theme.spacing.times(units))
        table.selectionModel().selectionChanged.connect(lambda: self._offer())
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return table

    def _buttons(self) -> None:
        self.copy = QPushButton("&Copy")
        self.again = QPushButton("&Type again")
        self.export = QPushButton("&Export…")
        self.delete = QPushButton("&Delete")
        self.delete_all = QPushButton("Delete &all…")
        self.copy.setAccessibleName("Copy the selected words")
        self.again.setAccessibleName("Type the selected words again")
        self.again.setToolTip("Type the selected words into the window that was used before")
        self.delete.setAccessibleName("Delete the selected utterances")
        menu = QMenu(self)
        self.export_selected = QAction("The selected utterances…", self)
        self.export_found = QAction("Everything found…", self)
        self.export_selected.triggered.connect(lambda: self._choose_file(self.selected()))
        self.export_found.triggered.connect(lambda: self._choose_file(self._all()))
        menu.addActions([self.export_selected, self.export_found])
        self.export.setMenu(menu)
        self.copy.clicked.connect(self._copy)
        self.again.clicked.connect(self._type_again)
        self.delete.clicked.connect(self._wish_delete)
        self.delete_all.clicked.connect(self._wish_delete_all)
        for text, run in {"Copy": self._copy, "Type again": self._type_again, "Delete": self._wish_delete}.items():
            action = QAction(text, self.table)
            action.triggered.connect(run)
            self.table.addAction(action)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        label = QLabel("&Keep")
        label.setBuddy(self.keep)
        privacy = hint(_PRIVACY)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        top = QHBoxLayout()
        top.setSpacing(space.s)
        top.addWidget(label)
        top.addWidget(self.keep)
        top.addWidget(privacy, 1)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.table)
        buttons = QHBoxLayout()
        buttons.setSpacing(space.s)
        for button in (self.copy, self.again, self.export, self.delete):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        self.delete_all.setAutoDefault(False)
        buttons.addWidget(self.delete_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.m, space.m)
        layout.setSpacing(space.s)
        layout.addLayout(top)
        layout.addWidget(self.search)
        layout.addLayout(self._stack, 1)
        layout.addWidget(self.status)
        layout.addLayout(buttons)
        # What people come for; and a wheel or an arrow key does not change how long things are kept.
        self.search.setFocus()
        self.setMinimumSize(space.times(110), space.times(66))
        self.resize(self.sizeHint())

    def _add_shortcuts(self) -> None:
        for keys, run in {
            "Ctrl+F": self.search.setFocus,
            "Ctrl+E": self.export.showMenu,
        }.items():
            QShortcut(QKeySequence(keys), self).activated.connect(run)
        for standard, run in (
            (QKeySequence.StandardKey.Copy, self._copy),
            (QKeySequence.StandardKey.Delete, self._wish_delete),
        ):
            # Only in the table: in the search field these keys have their own meaning.
            shortcut = QShortcut(QKeySequence(standard), self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(run)

    def sizeHint(self) -> QSize:
        wanted = QSize(self._theme.spacing.times(240), self._theme.spacing.times(150))
        return wanted.boundedTo(self.screen().availableSize() * 0.95)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The words matter most: where there is little room, the columns beside them go.
        width = event.size().width()
        for column, units in ((PROGRAM, 190), (DONE, 140)):
            self.table.setColumnHidden(column, width < self._theme.spacing.times(units))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        before, self._view = self._view, snapshot.history
        if not self.keep.view().isVisible():
            self._show_days()
        if self.isVisible() and before is not None and before.revision != self._view.revision:
            self.look()
        self._tell()

    def _while_there(self, answer: Callable[[AnswerT], None]) -> Callable[[AnswerT], None]:
        """Hand an answer on unless the window was closed, and so ended, before it came."""
        return lambda value: answer(value) if isValid(self) else None

    def look(self) -> None:
        """Look for what the search field says, now."""
        self._waiting.stop()
        self._history.find(self.search.text(), self._while_there(self._show_found))

    def _show_found(self, found: Found) -> None:
        # One to an older question is followed by the right one.
        if found.query != self.search.text():
            return
        self.model.show_found(found)
        if found.total and not self.table.currentIndex().isValid():
            # The keyboard begins at the newest; nothing is selected by that.
            self.table.selectionModel().setCurrentIndex(
                self.model.index(0, WORDS), QItemSelectionModel.SelectionFlag.NoUpdate
            )
        self._tell()
        self._offer()

    def _tell(self) -> None:
        """What is shown, and why nothing is."""
        found, view = self.model.found, self._view or HistoryView()
        self._stack.setCurrentIndex(_TABLE if found.total else _EMPTY)
        if found.query and not found.total:
            self.empty.setText(f"No utterance has “{found.query}” in it.")
        elif view.days == OFF:
            self.empty.setText("Nothing is kept. Choose above how long to keep what you say.")
        else:
            self.empty.setText("Nothing yet. What you say from now on appears here.")
        if found.query:
            self.status.setText(f"{found.total:,} of {view.total:,} utterances")
        else:
            self.status.setText(f"{found.total:,} utterance{'s' if found.total != 1 else ''}")

    def _offer(self) -> None:
        """Only what can be done now is offered."""
        selected = bool(self.table.selectionModel().hasSelection())
        for button in (self.copy, self.again, self.delete):
            button.setEnabled(selected)
        for action in (*self.table.actions(), self.export_selected):
            action.setEnabled(selected)
        self.export.setEnabled(self.model.found.total > 0)
        self.delete_all.setEnabled(bool(self._view and self._view.total))

    def selected(self) -> list[Rows]:
        """The selected rows, in runs."""
        selection = self.table.selectionModel().selection()
        runs = [selection.at(number) for number in range(selection.count())]
        return [Rows(run.top(), run.bottom()) for run in runs]

    def _all(self) -> list[Rows]:
        return [Rows(0, self.model.found.total - 1)]

    # What a person does.

    def _copy(self) -> None:
        if parts := self.selected():
            self._history.words(self.model.found, parts, QGuiApplication.clipboard().setText)

    def _type_again(self) -> None:
        if parts := self.selected():
            self._history.words(
                self.model.found, parts, lambda text: self._intents.actions.insert(" ".join(text.split()))
            )

    def _choose_file(self, parts: list[Rows]) -> None:
        dialog = QFileDialog(self, "Export", str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(_FILTERS.values()))
        dialog.setDefaultSuffix(Format.TEXT.value)
        suffixes = {name: each.value for each, name in _FILTERS.items()}
        dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(suffixes[name]))
        dialog.selectFile("sayso-history")
        found = self.model.found
        dialog.fileSelected.connect(lambda name: self._export(found, parts, Path(name)))
        # open() returns at once; exec() would stop every task of the event loop until the dialog closes.
        dialog.open()

    def _export(self, found: Found, parts: list[Rows], path: Path) -> None:
        if path.suffix.lstrip(".").lower() not in list(Format):
            path = path.with_name(f"{path.name}.{Format.TEXT.value}")
            if path.exists():
                # The dialog has asked about the name as it was typed.
                self._ask(f"Replace {path.name}?", "Replace", lambda: self._write(found, parts, path))
                return
        self._write(found, parts, path)

    def _write(self, found: Found, parts: list[Rows], path: Path) -> None:
        self.status.setText(f"Writing {path.name} …")
        self._history.export(found, parts, path, self._while_there(self.status.setText))

    def _wish_delete(self) -> None:
        parts, found = self.selected(), self.model.found
        count = sum(rows.last - rows.first + 1 for rows in parts)
        if count == 1:
            self._history.delete(found, parts)
        elif count:
            self._ask(f"Delete {count:,} utterances?", "Delete", lambda: self._history.delete(found, parts))

    def _wish_delete_all(self) -> None:
        total = self._view.total if self._view else 0
        question = f"Delete all {total:,} utterances, and files that were set aside?"
        self._ask(question, "Delete all", self._history.delete_all)

    def _wish_days(self, days: int) -> None:
        """A shorter time deletes what is older, which is asked about where there is any."""
        self._history.count_older(days, self._while_there(partial(self._set_days, days)))

    def _set_days(self, days: int, older: int) -> None:
        if not older:
            self._history.set_days(days)
            return
        what = "everything kept so far" if days == OFF else f"what is older than {days_words(days)}"
        question = f"This deletes {what}: {older:,} utterance{'s' if older != 1 else ''}."
        self._ask(question, "Delete", lambda: self._history.set_days(days))

    def _ask(self, question: str, yes: str, run: Callable[[], None]) -> None:
        box = QMessageBox(QMessageBox.Icon.Warning, "History", question, parent=self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("This cannot be undone.")
        accept = box.addButton(yes, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole))
        accept.clicked.connect(run)
        # A refusal leaves the choice as it was.
        box.finished.connect(self._show_days)
        box.open()

    def _show_days(self) -> None:
        if self._view is not None:
            self.keep.setCurrentIndex(self.keep.findData(self._view.days))
