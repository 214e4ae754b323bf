"""The action feed: what was heard, what it does, how it went, and a button that takes it back. Qt thread.

The newest action stands on top, so the button that undoes the last one never moves.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout

from sayso.app.snapshot import FeedItem, FeedState
from sayso.ui.glyph import Glyph
from sayso.ui.page_area import Page, PageArea
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle
from sayso.ui.wording import FEED_WORDS, feed_sentence

SHOWN = 100
"""Rows kept as widgets; older actions stay in the transcript only."""

_TONES = {
    FeedState.HEARD: "muted",
    FeedState.CONFIRM: "waiting",
    FeedState.RUNNING: "accent",
    FeedState.DONE: "good",
    FeedState.FAILED: "bad",
    FeedState.REFUSED: "waiting",
    FeedState.UNDONE: "muted",
}
"""The colour of each state, by its name in the theme; the drawing of a state carries the state's own name."""


class FeedRow(QFrame):
    undo_pressed = Signal()

    def __init__(self, theme: Theme, item: FeedItem) -> None:
        super().__init__()
        self.item = item
        self.setProperty("role", "feed-row")
        self._glyph = Glyph(theme, item.state.value, _TONES[item.state])
        self.title = self._label("feed-title")
        self.state = self._label("")
        self.heard = self._label("muted")
        self.undo = QPushButton("Undo")
        self.undo.clicked.connect(self.undo_pressed)
        space = theme.spacing
        words = QVBoxLayout()
        words.setSpacing(max(1, space.xs // 2))
        for label in (self.title, self.state, self.heard):
            words.addWidget(label)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.xs, space.s, space.s, space.s)
        layout.setSpacing(space.s)
        layout.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        layout.addWidget(self.undo, 0, Qt.AlignmentFlag.AlignTop)
        self.show_item(item)

    def _label(self, role: str) -> QLabel:
        label = QLabel()
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        if role:
            label.setProperty("role", role)
        return label

    def show_item(self, item: FeedItem) -> None:
        self.item = item
        self.title.setText(breakable(item.title))
        word = FEED_WORDS[item.state]
        self.state.setText(breakable(f"{word}: {item.detail}" if item.detail else word))
        self.heard.setText(breakable(f"heard “{item.heard}”"))
        self.heard.setVisible(bool(item.heard))
        self.undo.setVisible(item.can_undo)
        self.undo.setAccessibleName(f"Undo: {item.title}")
        self.undo.setToolTip(f"Take back: {item.title}")
        self.setAccessibleName(feed_sentence(item))
        self._glyph.show_drawing(item.state.value, _TONES[item.state])
        self._glyph.setAccessibleName(word)
        restyle(self.state, "tone", _TONES[item.state])


class FeedView(QFrame):
    """Emits ``undo_pressed`` with the identifier of a feed item."""

    undo_pressed = Signal(int)

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
            self._rows[item.id] = row
            self._list.insertWidget(0, row)
            # Tab goes down the list as the eye does, although the newest row was made last.
            self.setTabOrder(self.area, row.undo)
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
