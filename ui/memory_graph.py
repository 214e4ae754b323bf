"""Memory over the last ten minutes: the processes as areas one upon the other, a graphics card as a dashed line.

``scale`` and ``runs`` are the arithmetic; the widget only paints, once for each sample and without motion. Qt thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from sayso.app.memory_samples import KEPT_S
from sayso.app.memory_view import Sample
from sayso.ui import memory_wording as wording
from sayso.ui.theme import Colours, Theme

_GAP_S = 5.0
"""Between samples further apart than this nobody looked, and no line is drawn."""
_STEPS = (1, 2, 5)
_LINES = 4


def scale(most: int) -> int:
    """The bytes between two lines of the grid, so that at most four lines hold the highest sample."""
    power = 1_000_000
    while True:
        for step in _STEPS:
            if step * power * _LINES >= most:
                return step * power
        power *= 10


def runs(samples: Sequence[Sample]) -> list[list[Sample]]:
    """The samples without the gaps between them."""
    found: list[list[Sample]] = []
    for sample in samples:
        if not found or sample.at_s - found[-1][-1].at_s > _GAP_S:
            found.append([])
        found[-1].append(sample)
    return found


def layers(sample: Sample) -> tuple[int, int, int]:
    """Heights of the areas' upper edges, the lowest first: desktop, server, engine."""
    desktop = sample.desktop
    server = desktop + (sample.server or 0)
    return desktop, server, server + (sample.engine or 0)


def layer_colours(colours: Colours) -> tuple[str, str, str]:
    """Of desktop, server and engine."""
    return colours.muted, colours.waiting, colours.accent


class MemoryGraph(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._samples: tuple[Sample, ...] = ()
        self.setAccessibleName("Memory over time")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self._describe()

    def show_samples(self, samples: tuple[Sample, ...]) -> None:
        if samples != self._samples:
            self._samples = samples
            self._describe()
            self.update()

    def _describe(self) -> None:
        self.setAccessibleDescription(wording.graph_words(self._samples))

    def sizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(110), self._theme.spacing.times(34))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(40), self.sizeHint().height())

    def _small_font(self) -> QFont:
        font = self.font()
        font.setPointSizeF(max(1.0, font.pointSizeF() * 0.85))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._small_font())
        metrics = QFontMetricsF(painter.font())
        most = max((max(each.total, each.device or 0) for each in self._samples), default=0)
        step = scale(max(most, 1))
        left = metrics.horizontalAdvance(wording.size(step * _LINES)) + self._theme.spacing.s
        top, bottom = metrics.height() / 2, metrics.height() * 1.4
        plot = QRectF(left, top, self.width() - left - 1, self.height() - top - bottom)
        if self._samples:
            self._paint_grid(painter, plot, step, metrics)
        else:
            painter.setPen(QColor(self._theme.colours.muted))
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, "Measuring …")
        for run in runs(self._samples):
            self._paint_run(painter, plot, run, step * _LINES)
        painter.end()

    def _paint_grid(self, painter: QPainter, plot: QRectF, step: int, metrics: QFontMetricsF) -> None:
        colours = self._theme.colours
        for number in range(_LINES + 1):
            y = plot.bottom() - plot.height() * number / _LINES
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            label = wording.size(step * number) if number else "0"
            painter.setPen(QColor(colours.muted))
            x = plot.left() - self._theme.spacing.xs - metrics.horizontalAdvance(label)
            painter.drawText(QPointF(x, y + metrics.ascent() / 2 - 1), label)
        for minutes in (10, 5, 0):
            label = f"{minutes} min ago" if minutes else "now"
            x = plot.right() - plot.width() * minutes * 60 / KEPT_S
            width = metrics.horizontalAdvance(label)
            at = min(max(plot.left(), x - width / 2), plot.right() - width)
            painter.drawText(QPointF(at, self.height() - metrics.descent() - 1), label)

    def _paint_run(self, painter: QPainter, plot: QRectF, run: list[Sample], most: int) -> None:
        newest = self._samples[-1].at_s

        def point(sample: Sample, nbytes: int) -> QPointF:
            x = plot.right() - plot.width() * (newest - sample.at_s) / KEPT_S
            return QPointF(x, plot.bottom() - plot.height() * nbytes / most)

        heights = [(0, *layers(sample)) for sample in run]
        # From the top down: where a process holds nothing, the edge that is seen is the one below.
        for layer, name in reversed(list(enumerate(layer_colours(self._theme.colours)))):
            lower = [point(sample, height[layer]) for sample, height in zip(run, heights, strict=True)]
            upper = [point(sample, height[layer + 1]) for sample, height in zip(run, heights, strict=True)]
            colour = QColor(name)
            painter.setPen(QPen(colour, 1.5))
            painter.drawPolyline(QPolygonF(upper) if len(upper) > 1 else QPolygonF([upper[0], upper[0]]))
            colour.setAlphaF(0.35)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
        if any(sample.device for sample in run):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._theme.colours.text), 1.5, Qt.PenStyle.DashLine))
            painter.drawPolyline(QPolygonF([point(sample, sample.device or 0) for sample in run]))
