"""The table of a server's sessions: a model that changes rows in place, so that a choice in it stays. Qt thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHeaderView, QTreeView

from sayso.app.memory_view import SessionRow
from sayso.ui import memory_wording as wording
from sayso.ui.theme import Theme


def _held(nbytes: int) -> str:
    return wording.size(nbytes) if nbytes else "0"


Index = QModelIndex | QPersistentModelIndex

_COLUMNS: tuple[tuple[str, str, Callable[[SessionRow], str]], ...] = (
    ("Session", "Whose it is", wording.session_name),
    ("State", "What it does", lambda row: row.state),
    ("Silent", "Since something came from its client", lambda row: wording.clock(row.idle_s)),
    ("Age", "Since it was opened", lambda row: wording.clock(row.age_s)),
    ("Audio", "Sound and features that are kept for it", lambda row: _held(row.audio)),
    ("Device", "Keys and values where the model computes", lambda row: _held(row.device)),
    ("RAM", "Keys and values parked in main memory", lambda row: _held(row.host)),
    ("Disk", "Keys and values in an encrypted file", lambda row: _held(row.disk)),
)
_FIGURES_FROM = 2


class SessionModel(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[SessionRow, ...] = ()

    def show_rows(self, rows: tuple[SessionRow, ...]) -> None:
        """Rows that stay are changed in place; others go and come, oldest first."""
        wanted = {row.id for row in rows}
        for number in range(len(self._rows) - 1, -1, -1):
            if self._rows[number].id not in wanted:
                self.beginRemoveRows(QModelIndex(), number, number)
                self._rows = self._rows[:number] + self._rows[number + 1 :]
                self.endRemoveRows()
        for number, row in enumerate(rows):
            if number < len(self._rows) and self._rows[number].id == row.id:
                self._replace(number, row)
            else:
                self.beginInsertRows(QModelIndex(), number, number)
                self._rows = (*self._rows[:number], row, *self._rows[number:])
                self.endInsertRows()
        if len(self._rows) > len(rows):
            self.beginRemoveRows(QModelIndex(), len(rows), len(self._rows) - 1)
            self._rows = self._rows[: len(rows)]
            self.endRemoveRows()

    def _replace(self, number: int, row: SessionRow) -> None:
        if row != self._rows[number]:
            self._rows = (*self._rows[:number], row, *self._rows[number + 1 :])
            self.dataChanged.emit(self.index(number, 0), self.index(number, len(_COLUMNS) - 1))

    def session(self, number: int) -> SessionRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            name, tip, _ = _COLUMNS[section]
            if role == Qt.ItemDataRole.DisplayRole:
                return name
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, (name, _, text) = self._rows[index.row()], _COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return text(row)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{name}: {text(row)}"
            case Qt.ItemDataRole.ToolTipRole:
                return row.id
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(index.column())
            case Qt.ItemDataRole.FontRole if row.own:
                font = QFont()
                font.setBold(True)
                return font
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= _FIGURES_FROM else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class SessionTable(QTreeView):
    """One row a session; what can be done with one is in ``session_actions``."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows = SessionModel()
        self.setModel(self.rows)
        self.setAccessibleName("Sessions")
        self.setProperty("role", "figures")
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setTabKeyNavigation(False)
        self.header().setSectionsMovable(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(len(_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)

    def sizeHint(self) -> QSize:
        """Room for what there is, six rows at most; more are scrolled."""
        shown = min(max(self.rows.rowCount(), 1), 6)
        row = self.sizeHintForRow(0) if self.rows.rowCount() else self.fontMetrics().height()
        height = self.header().sizeHint().height() + shown * row + 2 * self.frameWidth() + self._theme.spacing.s
        return QSize(self._theme.spacing.times(110), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(60), self.sizeHint().height())

    def show_rows(self, rows: tuple[SessionRow, ...]) -> None:
        count = self.rows.rowCount()
        self.rows.show_rows(rows)
        if self.rows.rowCount() != count:
            self.updateGeometry()

    def chosen(self) -> SessionRow | None:
        return self.rows.session(self.currentIndex().row())
