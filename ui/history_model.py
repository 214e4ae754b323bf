"""The rows of the history as Qt asks for them: a page at a time, only some pages kept. Qt thread.

However many utterances there are, the memory is that of the pages around what is seen.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from sayso.app.history.entry import Entry
from sayso.app.history.view import PAGE, Found, Rows
from sayso.app.snapshot import LineKind
from sayso.ui.controls import plain_tip
from sayso.ui.wording import FEED_WORDS

COLUMNS = ("Time", "Words", "What was done", "Program")
TIME, WORDS, DONE, PROGRAM = range(4)
_PAGES_KEPT = 12
_KINDS = {LineKind.DICTATED: "Typed", LineKind.PLAIN: "No command", LineKind.COMMAND: "Command"}

Fetch = Callable[[Found, Rows, Callable[[tuple[Entry, ...]], None]], None]
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class HistoryModel(QAbstractTableModel):
    """What was found; ``fetch`` is asked for pages and answers later."""

    def __init__(self, fetch: Fetch) -> None:
        super().__init__()
        self._fetch = fetch
        self._found = Found("", 0, 0)
        self._pages: OrderedDict[int, tuple[Entry, ...]] = OrderedDict()
        self._asked: set[int] = set()

    @property
    def found(self) -> Found:
        return self._found

    def show_found(self, found: Found) -> None:
        """Shows another outcome; rows that only came on top leave what is selected and seen in its place."""
        grown = found.total - self._found.total
        if found.query == self._found.query and grown > 0 and found.newest > self._found.newest:
            self.beginInsertRows(QModelIndex(), 0, grown - 1)
            self._replace(found)
            self.endInsertRows()
            return
        self.beginResetModel()
        self._replace(found)
        self.endResetModel()

    def _replace(self, found: Found) -> None:
        self._found = found
        self._pages.clear()
        self._asked.clear()

    def entry(self, row: int) -> Entry | None:
        """The utterance in a row; None while it has not come yet."""
        page, place = divmod(row, PAGE)
        entries = self._pages.get(page)
        if entries is None:
            self._ask(page)
            return None
        self._pages.move_to_end(page)
        return entries[place] if place < len(entries) else None

    def _ask(self, page: int) -> None:
        if page in self._asked:
            return
        self._asked.add(page)
        found = self._found
        last = min((page + 1) * PAGE, found.total) - 1

        def take(entries: tuple[Entry, ...]) -> None:
            # An answer to an earlier question is of no use any more.
            if found is self._found:
                self._take(page, entries)

        self._fetch(found, Rows(page * PAGE, last), take)

    def _take(self, page: int, entries: tuple[Entry, ...]) -> None:
        self._asked.discard(page)
        self._pages[page] = entries
        while len(self._pages) > _PAGES_KEPT:
            self._pages.popitem(last=False)
        first = page * PAGE
        last = min(first + PAGE, self._found.total) - 1
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else self._found.total

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            return None
        entry = self.entry(index.row())
        if entry is None:
            return "…"
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == WORDS:
            return f"{_cell(entry, TIME)}, {entry.text}, {_cell(entry, DONE)}"
        text = _cell(entry, index.column())
        return plain_tip(text) if role == Qt.ItemDataRole.ToolTipRole else text


def _cell(entry: Entry, column: int) -> str:
    if column == TIME:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
    if column == WORDS:
        return " ".join(entry.text.split())
    if column == PROGRAM:
        return entry.application
    if entry.action and entry.state:
        return f"{entry.action}: {FEED_WORDS[entry.state].lower()}"
    return _KINDS.get(entry.kind, "")
