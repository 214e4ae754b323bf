"""A line about what was typed and is not in use, with two buttons: go on with it, or drop it. Qt thread."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QWidget

from sayso.ui.controls import plain_label
from sayso.ui.flow_row import FlowRow
from sayso.ui.glyph import Glyph
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

_NARROW_UNITS = 110
"""Below this width, in spacing units, the buttons stand below the words."""


class DraftStrip(QFrame):
    """``name`` is what a screen reader calls it, ``go`` the label of the first button; hidden until it is shown."""

    def __init__(self, theme: Theme, name: str, go: str, discard: str) -> None:
        super().__init__()
        self._theme = theme
        self._narrow: bool | None = None
        self._told = ""
        self.setProperty("role", "notice")
        self.setProperty("severe", False)
        self.setAccessibleName(name)
        self.words = plain_label()
        self.go = QPushButton(go)
        self.discard = QPushButton(discard)
        for button in (self.go, self.discard):
            # Enter in a field of a page must not press whichever button comes first.
            button.setAutoDefault(False)
        glyph = Glyph(theme, "notice", "waiting")
        glyph.setAccessibleName("Note")
        self._buttons = QWidget()
        self._buttons.setLayout(FlowRow(theme.spacing.xs, self.go, self.discard))
        space = theme.spacing
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(space.m, space.xs, space.xs, space.xs)
        self._grid.setHorizontalSpacing(space.s)
        self._grid.setVerticalSpacing(space.xs)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(glyph, 0, 0)
        self._grid.addWidget(self.words, 0, 1)
        self._arrange(narrow=False)
        self.hide()

    def tell(self, words: str) -> None:
        """Show these words, and read them out where they are new; empty ones hide the strip."""
        new = bool(words) and (self.isHidden() or words != self._told)
        self._told = words
        self.words.setText(breakable(words))
        self.setVisible(bool(words))
        if new and self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(narrow=event.size().width() < self._theme.spacing.times(_NARROW_UNITS))

    def _arrange(self, *, narrow: bool) -> None:
        if narrow is not self._narrow:
            self._narrow = narrow
            self._grid.addWidget(self._buttons, *((1, 1) if narrow else (0, 2)))
