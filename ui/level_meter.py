"""The level meter: a bar over a decibel scale that also says in words when nothing arrives or too much does.

``Peak`` is the arithmetic of the falling peak mark; the widget only paints. Qt thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from sayso.app.snapshot import MicrophoneState, MicrophoneView
from sayso.ui.theme import Theme

FLOOR_DB = -60.0
LOUD_DB = -12.0
HOT_DB = -3.0
_MARKS_DB = (-60, -40, -20, -10, 0)


def fraction(level_db: float) -> float:
    """Where a level lies on the scale, 0 at -60 dBFS and below, 1 at full scale."""
    return min(1.0, max(0.0, 1.0 - level_db / FLOOR_DB))


class Peak:
    """The highest level of the last moments; it stays for ``hold_s`` and then falls by ``fall_db_s``."""

    def __init__(self, hold_s: float = 1.0, fall_db_s: float = 20.0) -> None:
        self._hold_s = hold_s
        self._fall_db_s = fall_db_s
        self._peak_db = FLOOR_DB
        self._at_s = 0.0

    def update(self, level_db: float, now_s: float) -> float:
        fallen = max(0.0, now_s - self._at_s - self._hold_s) * self._fall_db_s
        if level_db >= self._peak_db - fallen:
            self._peak_db, self._at_s, fallen = level_db, now_s, 0.0
        return max(FLOOR_DB, self._peak_db - fallen)


def verdict(microphone: MicrophoneView) -> str:
    """What the meter says in words; nothing when all is well."""
    if microphone.state is MicrophoneState.MISSING:
        return "No microphone"
    if microphone.state is MicrophoneState.NO_SIGNAL:
        return "No signal"
    if microphone.state in (MicrophoneState.CLOSED, MicrophoneState.OPENING):
        return "Microphone off" if microphone.state is MicrophoneState.CLOSED else "Opening"
    return "Too loud" if microphone.clipping else ""


class LevelMeter(QWidget):
    def __init__(self, theme: Theme, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._theme = theme
        self._clock = clock
        self._peak = Peak()
        self._peak_db = FLOOR_DB
        self._microphone = MicrophoneView(MicrophoneState.CLOSED)
        self._verdict = ""
        self.setAccessibleName("Microphone level")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self._describe()

    def show_microphone(self, microphone: MicrophoneView) -> None:
        self._microphone = microphone
        level = microphone.level_db if self._live() else FLOOR_DB
        self._peak_db = self._peak.update(level, self._clock())
        if verdict(microphone) != self._verdict:
            self._describe()
        self.update()

    def _describe(self) -> None:
        # Only a change in words reaches a screen reader: twenty numbers a second would drown everything else.
        self._verdict = verdict(self._microphone)
        self.setAccessibleDescription(self._verdict or "The microphone delivers sound")
        self.setToolTip(self._microphone.name)

    def _live(self) -> bool:
        return self._microphone.state in (MicrophoneState.READY, MicrophoneState.HEARING)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(50), self._theme.spacing.times(2.5) + self._scale_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(24), self.sizeHint().height())

    def _scale_height(self) -> int:
        return round(QFontMetricsF(self._small_font()).height())

    def _small_font(self) -> QFont:
        font = self.font()
        font.setPointSizeF(max(1.0, font.pointSizeF() * 0.85))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._small_font())
        height = self._theme.spacing.times(2)
        bar = QRectF(0, 0, self.width(), height)
        self._paint_track(painter, bar)
        if self._live():
            self._paint_level(painter, bar)
        self._paint_scale(painter, bar)
        painter.end()

    def _paint_track(self, painter: QPainter, bar: QRectF) -> None:
        colours = self._theme.colours
        radius = bar.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.track))
        painter.drawRoundedRect(bar, radius, radius)
        if not self._live() and self._microphone.state is not MicrophoneState.CLOSED:
            painter.setBrush(QBrush(QColor(colours.border), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(bar, radius, radius)

    def _paint_level(self, painter: QPainter, bar: QRectF) -> None:
        colours = self._theme.colours
        radius = bar.height() / 2
        level = self._microphone.level_db
        colour = colours.accent if level < LOUD_DB else colours.waiting if level < HOT_DB else colours.bad
        width = fraction(level) * bar.width()
        if width >= 1:
            painter.setBrush(QColor(colours.bad if self._microphone.clipping else colour))
            painter.drawRoundedRect(QRectF(0, 0, max(width, bar.height()), bar.height()), radius, radius)
        if self._peak_db > FLOOR_DB:
            at = fraction(self._peak_db) * bar.width()
            painter.setPen(QPen(QColor(colours.text), 2))
            painter.drawLine(round(at) - 1, 1, round(at) - 1, round(bar.height()) - 1)

    def _paint_scale(self, painter: QPainter, bar: QRectF) -> None:
        colours = self._theme.colours
        metrics = QFontMetricsF(painter.font())
        baseline = bar.bottom() + metrics.ascent() + 1
        problem = self._verdict
        reserved = metrics.horizontalAdvance(problem) + self._theme.spacing.s if problem else 0.0
        painter.setPen(QColor(colours.muted))
        for mark in _MARKS_DB:
            label = f"{mark} dB" if mark == 0 else f"{mark}".replace("-", "−")  # noqa: RUF001
            width = metrics.horizontalAdvance(label)
            left = min(max(0.0, fraction(mark) * bar.width() - width / 2), bar.width() - width)
            if left + width <= bar.width() - reserved:
                painter.drawText(round(left), round(baseline), label)
        if problem:
            bad = self._microphone.state in (MicrophoneState.MISSING, MicrophoneState.NO_SIGNAL)
            painter.setPen(QColor(colours.bad if bad or self._microphone.clipping else colours.muted))
            painter.drawText(round(bar.width() - metrics.horizontalAdvance(problem)), round(baseline), problem)
