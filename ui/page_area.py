"""A page that scrolls as a whole when the window is too small for it, as with large text or many notices. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class Page(QWidget):
    """What a ``PageArea`` scrolls: it asks for the least height that its layout can do with at the width it has.

    Qt's own answers are the preferred height, which makes an elastic page scroll although it would fit, and the minimum
    of its narrowest form, which is far too high in a wide window.
    """

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.totalMinimumHeightForWidth(width) if layout else super().heightForWidth(width)

    def minimumSizeHint(self) -> QSize:
        least, layout = super().minimumSizeHint(), self.layout()
        # A layout in which nothing wraps is not asked for its height by its width.
        return QSize(least.width(), 0 if layout is not None and layout.hasHeightForWidth() else least.height())


class PageArea(QScrollArea):
    def __init__(self, page: Page, parent: QWidget | None = None) -> None:
        """With its ``parent`` given here the page is styled once and not again when it is put there."""
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(page)
