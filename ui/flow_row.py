"""A row of controls that goes on in the next line where it is too long for its window. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowRow(QLayout):
    """Controls in their own sizes from the left, ``gap`` pixels apart; hidden ones take no room."""

    def __init__(self, gap: int, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(gap)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        lines = self._lines(width - margins.left() - margins.right())
        inner = sum(height for height, _ in lines) + self.spacing() * max(0, len(lines) - 1)
        return margins.top() + inner + margins.bottom()

    def sizeHint(self) -> QSize:
        """All in one line."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() + self.spacing() for size in sizes) - self.spacing()
        return self._with_margins(QSize(max(0, width), max((size.height() for size in sizes), default=0)))

    def minimumSize(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        width = max((size.width() for size in sizes), default=0)
        return self._with_margins(QSize(width, max((size.height() for size in sizes), default=0)))

    def _with_margins(self, size: QSize) -> QSize:
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        inside = self.contentsRect()
        top = inside.top()
        for height, items in self._lines(inside.width()):
            left = inside.left()
            for item in items:
                size = item.sizeHint()
                item.setGeometry(QRect(QPoint(left, top), size))
                left += size.width() + self.spacing()
            top += height + self.spacing()

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _lines(self, width: int) -> list[tuple[int, list[QLayoutItem]]]:
        """Height and items of each line."""
        lines: list[tuple[int, list[QLayoutItem]]] = []
        used = 0
        for item in self._shown():
            size = item.sizeHint()
            if not lines or used + self.spacing() + size.width() > width:
                lines.append((size.height(), [item]))
                used = size.width()
            else:
                height, items = lines[-1]
                lines[-1] = max(height, size.height()), [*items, item]
                used += self.spacing() + size.width()
        return lines
