"""A line of the settings about what was typed on another page and is not in use: go there, or drop it. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import Signal

from sayso.ui.draft_strip import DraftStrip
from sayso.ui.theme import Theme


class DraftBar(DraftStrip):
    """Emits ``page_wanted`` and ``discarded`` with the title of a page; one page's draft is shown at a time."""

    page_wanted = Signal(str)
    discarded = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Not in use", "Go there", "Discard")
        self._title = ""
        self.go.clicked.connect(lambda: self.page_wanted.emit(self._title))
        self.discard.clicked.connect(lambda: self.discarded.emit(self._title))

    def show_told(self, told: tuple[tuple[str, str], ...]) -> None:
        """Titles of pages and what was typed there, the oldest first; hidden when there is none."""
        words = ""
        if told:
            self._title, what = told[0]
            words = f"Not in use yet: {what}."
            self.go.setText(f"Go to {self._title}")
            self.discard.setAccessibleName(f"Discard what was typed on the page {self._title}")
        self.tell(words)
