"""A small drawing in a colour of the theme, sharp on every screen; the words beside it say the same. Qt thread."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from sayso.ui import icon
from sayso.ui.theme import Theme


class Glyph(QWidget):
    def __init__(self, theme: Theme, drawing: str, colour: str, units: float = 5) -> None:
        """``drawing`` is a file of ``assets/icons``, ``colour`` a colour of the theme; the side is in spacing units."""
        super().__init__()
        self._theme = theme
        self._drawing, self._colour = drawing, colour
        side = theme.spacing.times(units)
        self.setFixedSize(side, side)
        theme.changed.connect(self.update)

    def show_drawing(self, drawing: str, colour: str) -> None:
        if (drawing, colour) != (self._drawing, self._colour):
            self._drawing, self._colour = drawing, colour
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colour = getattr(self._theme.colours, self._colour)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, icon.pixmap(self._drawing, colour, self.width(), self.devicePixelRatioF()))
        painter.end()
