"""The level meter: a bar over a decibel scale that also says in words when nothing arrives or too much does.

``Peak`` is the arithmetic of the falling peak mark; the widget only paints, and only the part that changed: in a quiet
room nothing is painted at all. Qt thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from sayso.app.audio.level import LOWEST_SHOWN_DB as FLOOR_DB
from sayso.app.snapshot import MicrophoneState, MicrophoneView
from sayso.ui.controls import plain_tip
from sayso.ui.theme import Theme

LOUD_DB = -12.0
HOT_DB = -3.0
_MARKS_DB = (-60, -40, -20, -10, 0)
_STEP_S = 0.05
"""Between two pictures of a falling peak."""


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

    def falls_in_s(self, level_db: float, now_s: float) -> float | None:
        """Seconds until the mark falls though the level stays, 0 while it does; None when it lies on the level."""
        if self.update(level_db, now_s) <= max(FLOOR_DB, level_db):
            return None
        return max(0.0, self._at_s + self._hold_s - now_s)


def verdict(microphone: MicrophoneView) -> str:
    """What the meter says in words; nothing when all is well."""
    if microphone.state is MicrophoneState.MISSING:
        return "No microphone"
    if microphone.state is MicrophoneState.UNUSABLE:
        return "Blocked"
    if microphone.state is MicrophoneState.NO_SIGNAL:
        return "No signal"
    if microphone.state in (MicrophoneState.CLOSED, MicrophoneState.OPENING):
        return "Microphone off" if microphone.state is MicrophoneState.CLOSED else "Opening"
    return "Too loud" if microphone.clipping else ""


class LevelMeter(QWidget):
    def __init__(self, theme: Theme, clock: Callable[[], float] = time.monotonic, peak: Peak | None = None) -> None:
        super().__init__()
        self._theme = theme
        self._clock = clock
        self._peak = peak or Peak()
        self._peak_db = FLOOR_DB
        self._microphone = MicrophoneView(MicrophoneState.CLOSED)
        self._verdict = ""
        self._falling = QTimer(self)
        self._falling.setSingleShot(True)
        self._falling.timeout.connect(self._let_peak_fall)
        self.setAccessibleName("Microphone level")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self._describe()

    def show_microphone(self, microphone: MicrophoneView) -> None:
        if microphone == replace(self._microphone, detail=microphone.detail):
            return
        before, self._microphone = self._microphone, microphone
        if verdict(microphone) != self._verdict or microphone.name != before.name:
            self._describe()
        if microphone.state is not before.state or microphone.clipping is not before.clipping:
            self.update()
        self._let_peak_fall()

    @property
    def is_falling(self) -> bool:
        """Whether the peak mark will move although the level stays."""
        return self._falling.isActive()

    def _let_peak_fall(self) -> None:
        """Paint the level, and paint again when the mark above it has fallen, as long as somebody can see that."""
        level, now_s = self._level_db, self._clock()
        self._peak_db = self._peak.update(level, now_s)
        self.update(self._bar)
        falls_in_s = self._peak.falls_in_s(level, now_s)
        if falls_in_s is None or not self.isVisible():
            self._falling.stop()
        else:
            self._falling.start(round(1000 * max(_STEP_S, falls_in_s)))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._let_peak_fall()

    def _describe(self) -> None:
        # Only a change in words reaches a screen reader: twenty numbers a second would drown everything else.
        self._verdict = verdict(self._microphone)
        self.setAccessibleDescription(self._verdict or "The microphone delivers sound")
        self.setToolTip(plain_tip(self._microphone.name))

    def _live(self) -> bool:
        return self._microphone.state in (MicrophoneState.READY, MicrophoneState.HEARING)

    @property
    def _level_db(self) -> float:
        return self._microphone.level_db if self._live() else FLOOR_DB

    @property
    def _bar(self) -> QRect:
        return QRect(0, 0, self.width(), self._theme.spacing.times(2))

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
        bar = QRectF(self._bar)
        self._paint_track(painter, bar)
        if self._live():
            self._paint_level(painter, bar)
        if event.rect().bottom() > bar.bottom():
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
            state = self._microphone.state
            bad = state.is_without or state is MicrophoneState.NO_SIGNAL
            painter.setPen(QColor(colours.bad if bad or self._microphone.clipping else colours.muted))
            painter.drawText(round(bar.width() - metrics.horizontalAdvance(problem)), round(baseline), problem)
