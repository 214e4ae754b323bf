"""The left side of the settings: a search field above the list of pages. Qt thread.

Typing hides the pages on which nothing matches and says under the others what does; Down and Up choose among them while
the cursor stays in the field, Enter goes to what was found, Esc clears.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from sayso.ui import icon
from sayso.ui.controls import hint
from sayso.ui.settings_contents import PageEntry
from sayso.ui.settings_search import Match, match
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

_WIDTH_UNITS = 48


class SettingsIndex(QWidget):
    """Emits ``chosen`` with the number of a page; ``pointed`` with what is searched for when it is to be seen on the
    page that was chosen, and ``entered`` when it is to have the focus. That is empty when nothing is searched.
    """

    chosen = Signal(int)
    pointed = Signal(str)
    entered = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[PageEntry]) -> None:
        super().__init__()
        self._theme = theme
        self._pages = pages
        self._matches: dict[int, Match] = {}
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the settings")
        self.search.setPlaceholderText("Search (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Pages of the settings")
        self.list.setProperty("role", "pages")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.currentRowChanged.connect(self._row_changed)
        self.list.itemActivated.connect(lambda _: self._enter())
        self.nothing = hint()
        self.nothing.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.spacing.s)
        layout.addWidget(self.search)
        layout.addWidget(self.nothing)
        layout.addWidget(self.list, 1)
        self.setFixedWidth(theme.spacing.times(_WIDTH_UNITS))
        self._fill()
        theme.changed.connect(self._paint)

    def _fill(self) -> None:
        # The list shows the first page as soon as it has one, which is the window's to decide.
        with QSignalBlocker(self.list):
            for page in self._pages:
                self.list.addItem(QListWidgetItem(page.title))
        self._paint()

    def _paint(self) -> None:
        for row in range(len(self._pages)):
            self._paint_row(row)

    def _paint_row(self, row: int) -> None:
        side = self._theme.spacing.times(5)
        self.list.setIconSize(QSize(side, side))
        drawn = icon.icon(self._pages[row].icon, self._theme.colours.muted, side)
        chosen = icon.pixmap(self._pages[row].icon, self._theme.colours.accent, side, self.devicePixelRatioF())
        drawn.addPixmap(chosen, QIcon.Mode.Selected)
        item = self.list.item(row)
        if item is not None:
            item.setIcon(drawn)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Choosing a page has laid out the rows before the style sheet, which gives them their height, was in force.
        self.list.doItemsLayout()
        self._keep_current_in_view()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_current_in_view()

    def _keep_current_in_view(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self.list.scrollToItem(item)

    def title(self, number: int) -> str:
        return self._pages[number].title

    def number_of(self, title: str) -> int:
        """The number of the page with this title, in any case of letters; ValueError when there is none."""
        return [each.title.casefold() for each in self._pages].index(title.casefold())

    def show_page(self, number: int) -> None:
        """Choose a page, which ends a search that hides it."""
        item = self.list.item(number)
        if item is not None and item.isHidden():
            self.search.clear()
        self.list.setCurrentRow(number)
        # The list keeps quiet when the row is the current one already, as after the first page was added.
        self.chosen.emit(number)

    def step(self, by: int) -> None:
        """Go on by ``by`` pages among those that match, round the end."""
        rows = self._rows()
        if rows:
            current = self.list.currentRow()
            at = rows.index(current) if current in rows else -min(by, 0)
            self.list.setCurrentRow(rows[(at + by) % len(rows)])

    def begin_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _rows(self) -> list[int]:
        return [row for row in range(self.list.count()) if row in self._matches or not self.search.text().strip()]

    def _row_changed(self, row: int) -> None:
        if row >= 0:
            self.chosen.emit(row)
            self.pointed.emit(self.search.text())

    def _filter(self, text: str) -> None:
        searching = bool(text.strip())
        self._matches = {}
        for row, page in enumerate(self._pages):
            found = match(text, page.title, page.words) if searching else None
            if found is not None:
                self._matches[row] = found
            self._show_row(row, found, hidden=searching and found is None)
        self.nothing.setText(breakable(f"Nothing in the settings matches “{text.strip()}”."))
        self.nothing.setVisible(searching and not self._matches)
        self._choose_best()

    def _choose_best(self) -> None:
        """A page of which the title matches before one on which something does; the one that is shown before others."""
        if self._matches:
            current = self.list.currentRow()
            self.list.setCurrentRow(
                min(self._matches, key=lambda row: (bool(self._matches[row].found), row != current))
            )
            self.pointed.emit(self.search.text())

    def _show_row(self, row: int, found: Match | None, *, hidden: bool) -> None:
        item, title = self.list.item(row), self._pages[row].title
        if item is not None:
            what = found.found[0] if found is not None and found.found else ""
            item.setText(f"{title}\n{what}" if what else title)
            item.setToolTip(what)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}: {what}" if what else title)
            item.setHidden(hidden)

    def _enter(self) -> None:
        self.entered.emit(self.search.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            return self._key(event.key())
        return super().eventFilter(watched, event)

    def _key(self, key: int) -> bool:
        match key:
            case Qt.Key.Key_Down:
                self.step(1)
            case Qt.Key.Key_Up:
                self.step(-1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._enter()
            case Qt.Key.Key_Escape if self.search.text():
                self.search.clear()
            case _:
                return False
        return True
