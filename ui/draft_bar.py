"""A line of the settings about what was typed on another page and is not in use: go there, or drop it. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from sayso.ui.controls import plain_label
from sayso.ui.glyph import Glyph
from sayso.ui.text import breakable
from sayso.ui.theme import Theme


class DraftBar(QFrame):
    """Emits ``page_wanted`` and ``discarded`` with the title of a page; one page's draft is shown at a time."""

    page_wanted = Signal(str)
    discarded = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._title = ""
        self.setProperty("role", "notice")
        self.setProperty("severe", False)
        self.setAccessibleName("Not in use")
        glyph = Glyph(theme, "notice", "waiting")
        glyph.setAccessibleName("Note")
        self.words = plain_label()
        self.go = QPushButton("Go there")
        self.discard = QPushButton("Discard")
        self.go.clicked.connect(lambda: self.page_wanted.emit(self._title))
        self.discard.clicked.connect(lambda: self.discarded.emit(self._title))
        space = theme.spacing
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.m, space.xs, space.xs, space.xs)
        layout.setSpacing(space.s)
        layout.addWidget(glyph)
        layout.addWidget(self.words, 1)
        for button in (self.go, self.discard):
            # Enter in a field of a page must not press whichever button comes first.
            button.setAutoDefault(False)
            layout.addWidget(button)
        self.hide()

    def show_told(self, told: tuple[tuple[str, str], ...]) -> None:
        """Titles of pages and what was typed there, the oldest first; hidden when there is none."""
        if told:
            self._title, what = told[0]
            self.words.setText(breakable(f"Not in use yet: {what}."))
            self.go.setText(f"Go to {self._title}")
            self.discard.setAccessibleName(f"Discard what was typed on the page {self._title}")
        self.setVisible(bool(told))
