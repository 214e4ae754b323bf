"""The action feed: what was heard, what it does, how it went, and a button that takes it back. Qt thread.

The newest action stands on top, so the button that undoes the last one never moves.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from sayso.app.snapshot import FeedItem, FeedState
from sayso.ui.feed_row import FeedRow
from sayso.ui.page_area import Page, PageArea
from sayso.ui.theme import Theme, restyle

SHOWN = 100
"""Rows kept as widgets; older actions stay in the transcript only."""


class FeedView(QFrame):
    """Emits with the identifier of a feed item what is wanted of it."""

    undo_pressed = Signal(int)
    confirm_pressed = Signal(int)
    refuse_pressed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._items: tuple[FeedItem, ...] = ()
        self._rows: dict[int, FeedRow] = {}
        self.setProperty("role", "card")
        heading = QLabel("Actions")
        heading.setProperty("role", "heading")
        self.empty = QLabel("Nothing yet. What you do by voice appears here, with Undo where it is possible.")
        self.empty.setProperty("role", "muted")
        self.empty.setWordWrap(True)
        self.empty.setContentsMargins(0, 0, theme.spacing.s, 0)
        inside = Page()
        self._list = QVBoxLayout(inside)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self._list.addStretch(1)
        self.area = PageArea(inside)
        self.area.setAccessibleName("Actions")
        self.area.setAccessibleDescription("What was done by voice, the newest first")
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        space = theme.spacing
        layout = QVBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.xs, space.xs)
        layout.setSpacing(space.xs)
        layout.addWidget(heading)
        layout.addWidget(self.empty)
        layout.addWidget(self.area, 1)

    def show_items(self, items: tuple[FeedItem, ...]) -> None:
        """Takes the feed with the newest item last."""
        if items == self._items:
            return
        self._items = items
        shown = items[-SHOWN:]
        wanted = {item.id for item in shown}
        for gone in [identifier for identifier in self._rows if identifier not in wanted]:
            row = self._rows.pop(gone)
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        for item in shown:
            self._show_item(item)
        for item in shown:
            self._mark_first(item, first=item is shown[-1])
        self.empty.setVisible(not shown)

    def _show_item(self, item: FeedItem) -> None:
        row = self._rows.get(item.id)
        if row is None:
            row = FeedRow(self._theme, item)
            row.undo_pressed.connect(lambda identifier=item.id: self.undo_pressed.emit(identifier))
            row.confirm_pressed.connect(lambda identifier=item.id: self.confirm_pressed.emit(identifier))
            row.refuse_pressed.connect(lambda identifier=item.id: self.refuse_pressed.emit(identifier))
            self._rows[item.id] = row
            self._list.insertWidget(0, row)
            # Screen readers and Tab go down the list as the eye does, although the newest row was made last.
            row.lower()
            before: QWidget = self.area
            for control in (row.confirm, row.refuse, row.undo, row.why, row.details):
                self.setTabOrder(before, control)
                before = control
        elif row.item != item:
            row.show_item(item)

    def _mark_first(self, item: FeedItem, *, first: bool) -> None:
        restyle(self._rows[item.id], "first", first)

    def rows(self) -> tuple[FeedRow, ...]:
        """The shown rows, the oldest first."""
        return tuple(self._rows.values())

    def undo_newest(self) -> bool:
        """Undoes the newest action that can be undone; says whether there was one."""
        for item in reversed(self._items):
            if item.can_undo:
                self.undo_pressed.emit(item.id)
                return True
        return False

    def explain_newest(self) -> bool:
        """Opens or closes why the newest action was done; says whether there was one."""
        for item in reversed(self._items[-SHOWN:]):
            if item.why is not None:
                self._rows[item.id].why.toggle()
                return True
        return False

    def answer_newest(self, yes: bool) -> bool:
        """Answers the newest open question; says whether there was one."""
        for item in reversed(self._items):
            if item.state is FeedState.CONFIRM:
                (self.confirm_pressed if yes else self.refuse_pressed).emit(item.id)
                return True
        return False
