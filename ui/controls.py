"""Small controls that several pages of the settings share. Qt thread."""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QLabel, QStyleOptionComboBox, QWidget

from sayso.ui import icon
from sayso.ui.theme import Theme

TITLE_FACTOR = 1.5


def hint(text: str = "") -> QLabel:
    """A quiet explanation that wraps."""
    label = plain_label(text)
    label.setProperty("role", "muted")
    return label


def plain_label(text: str = "") -> QLabel:
    """Words from elsewhere, which wrap and are never taken for mark-up."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def plain_tip(text: str) -> str:
    """A tool tip of words from elsewhere, which are never taken for mark-up."""
    return f"<qt>{html.escape(text)}</qt>" if "<" in text else text


def title_label() -> QLabel:
    """The heading of a page: half as large again as the text, whatever size that has."""
    label = plain_label()
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * TITLE_FACTOR)
    font.setWeight(QFont.Weight.DemiBold)
    label.setFont(font)
    return label


class _Outlines(QObject):
    """Goes with the first of the widgets that it paints."""

    def __init__(self, theme: Theme, widgets: Sequence[QWidget]) -> None:
        super().__init__(widgets[0])
        self._theme, self._widgets = theme, widgets
        theme.changed.connect(self.paint)
        self.paint()

    def paint(self) -> None:
        # The style draws outlines a shade darker than the window, which is not seen on a dark one.
        for widget in self._widgets:
            outlined = widget.palette()
            outlined.setColor(QPalette.ColorRole.Window, QColor(self._theme.colours.muted))
            widget.setPalette(outlined)


def keep_outlined(theme: Theme, *widgets: QWidget) -> None:
    """Draw the outlines of check boxes, sliders and spin boxes in a colour that is seen, in every theme to come."""
    _Outlines(theme, widgets)


class ChoiceBox(QComboBox):
    """A list to choose from; the style sheet takes the style's arrow away, so ours is drawn."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        # A long entry is cut at the end instead of widening the page.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        theme.changed.connect(self.update)

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """An entry that is too long ends in “…” before the arrow."""
        super().initStyleOption(option)
        room = self.width() - self._theme.spacing.times(8) - 2 * self._theme.spacing.s
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side, gap = self._theme.spacing.times(4), self._theme.spacing.s
        arrow = icon.pixmap("choose", self._theme.colours.muted, side, self.devicePixelRatioF())
        painter = QPainter(self)
        painter.drawPixmap(self.width() - side - gap, (self.height() - side) // 2, arrow)
        painter.end()
