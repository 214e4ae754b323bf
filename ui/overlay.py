"""A small window over all others with what is heard and done. It takes no focus and no clicks. Qt thread.

What it shows and for how long is ``overlay_content``'s to decide; this file paints it and puts it on the screen with
the pointer. Nothing moves or fades: it is there or it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QCursor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QWindow,
)
from PySide6.QtWidgets import QWidget

from sayso.app.snapshot import Snapshot
from sayso.app.ways_view import OverlayPlace
from sayso.ui import icon
from sayso.ui.level_meter import HOT_DB, LOUD_DB, fraction
from sayso.ui.overlay_content import OverlayContent, OverlayPolicy
from sayso.ui.theme import Colours, Theme
from sayso.ui.wording import Tone

_WIDTH_UNITS = 150
_NARROWEST_SHARE = 0.9
"""Of the screen: what a wide text may take of a small one."""


def can_show() -> bool:
    """Whether this desktop lets a program place a window over others; Wayland does not."""
    return not QGuiApplication.platformName().startswith("wayland")


def tone_colours(colours: Colours, tone: Tone) -> tuple[str, str]:
    """Disc and drawing."""
    return {
        Tone.CALM: (colours.raised, colours.muted),
        Tone.ACTIVE: (colours.accent, colours.on_accent),
        Tone.GOOD: (colours.accent_tint, colours.accent),
        Tone.WAITING: (colours.waiting_tint, colours.waiting),
        Tone.BAD: (colours.bad_tint, colours.bad),
    }[tone]


def position(place: OverlayPlace, area: QRect, size: QSize, margin: int) -> QPoint:
    """The upper left corner of a window of this size in an area of the screen."""
    middle = area.left() + (area.width() - size.width()) // 2
    left, right = area.left() + margin, area.right() + 1 - size.width() - margin
    top, bottom = area.top() + margin, area.bottom() + 1 - size.height() - margin
    return {
        OverlayPlace.BOTTOM: QPoint(middle, bottom),
        OverlayPlace.TOP: QPoint(middle, top),
        OverlayPlace.BOTTOM_LEFT: QPoint(left, bottom),
        OverlayPlace.BOTTOM_RIGHT: QPoint(right, bottom),
        OverlayPlace.TOP_LEFT: QPoint(left, top),
        OverlayPlace.TOP_RIGHT: QPoint(right, top),
    }[place]


class Overlay(QWidget):
    """``is_watched`` says whether one of our other windows is in front, where all this can be seen already."""

    def __init__(
        self,
        theme: Theme,
        is_watched: Callable[[], bool] = lambda: QGuiApplication.focusWindow() is not None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool
            | Qt.WindowType.FramelessWindowHint
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowDoesNotAcceptFocus
            | Qt.WindowType.WindowTransparentForInput,
        )
        self._theme = theme
        self._is_watched = is_watched
        self._clock = clock
        self._policy = OverlayPolicy()
        self._snapshot: Snapshot | None = None
        self._place = OverlayPlace.BOTTOM
        self._area = QRect()
        """What of a screen it stands in."""
        self.content: OverlayContent | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_X11NetWmWindowTypeNotification)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWindowTitle("What is heard")
        self.setAccessibleName("What is heard")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)
        theme.changed.connect(self.update)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._look_soon)
        application.focusWindowChanged.connect(self._focus_changed)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._look()

    def _look(self) -> None:
        snapshot = self._snapshot
        if snapshot is None:
            return
        now_s = self._clock()
        content = self._policy.update(snapshot, now_s)
        wanted = snapshot.options.overlay and can_show() and not self._is_watched()
        self._timer.stop()
        if content is None or not wanted:
            self.content = None
            self.hide()
            return
        if self._policy.until_s is not None:
            self._timer.start(max(1, round((self._policy.until_s - now_s) * 1000) + 1))
        self._present(content, snapshot.options.overlay_place)

    def _look_soon(self) -> None:
        """A screen goes; while that is told it is still there."""
        self._timer.start(0)

    def _focus_changed(self, window: QWindow | None) -> None:
        """Whoever comes to one of our other windows sees there what stands here."""
        if window is not None and self.isVisible():
            self._look_soon()

    def _present(self, content: OverlayContent, place: OverlayPlace) -> None:
        if content != self.content:
            self.content = content
            self.setAccessibleDescription(f"{content.title}. {content.stable}".strip())
            self.update()
        screens = QGuiApplication.screens()
        lost = all(screen.availableGeometry() != self._area for screen in screens)
        if not self.isVisible() or place is not self._place or lost:
            self._place = place
            self._stand()
            self.show()

    def _stand(self) -> None:
        """Take the place on the screen with the pointer; it stays there until it, or its screen, has gone."""
        screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
        area = self._area = screen.availableGeometry()
        wanted = self.sizeHint()
        size = QSize(min(wanted.width(), round(area.width() * _NARROWEST_SHARE)), wanted.height())
        self.setGeometry(QRect(position(self._place, area, size, self._theme.spacing.xl), size))

    def sizeHint(self) -> QSize:
        space = self._theme.spacing
        lines = QFontMetricsF(self._words_font(italic=False)).height() + QFontMetricsF(self.font()).height()
        return QSize(space.times(_WIDTH_UNITS), round(lines) + 2 * space.m + space.xs + self._bar_height())

    def _bar_height(self) -> int:
        return self._theme.spacing.xs

    def _words_font(self, *, italic: bool) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 1.25)
        font.setItalic(italic)
        return font

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Transparent corners would need a compositor, which not every desktop has.
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), self._theme.spacing.s, self._theme.spacing.s)
        self.setMask(QRegion(path.toFillPolygon().toPolygon()))

    def paintEvent(self, event: QPaintEvent) -> None:
        content, colours, space = self.content, self._theme.colours, self._theme.spacing
        if content is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.setBrush(QColor(colours.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), space.s, space.s)
        side = self.height() - 2 * space.m - self._bar_height()
        self._paint_glyph(painter, QRectF(space.m, space.m, side, side), content)
        left = space.m + side + space.m
        area = QRectF(left, space.m, self.width() - left - space.m, side)
        self._paint_words(painter, area, content)
        if content.level_db is not None:
            self._paint_level(painter, content.level_db)
        painter.end()

    def _paint_glyph(self, painter: QPainter, where: QRectF, content: OverlayContent) -> None:
        disc, drawing = tone_colours(self._theme.colours, content.tone)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(disc))
        painter.drawEllipse(where)
        size = round(where.width() * 0.55)
        picture = icon.pixmap(content.drawing, drawing, size, self.devicePixelRatioF())
        painter.drawPixmap(where.center() - QPoint(size, size) / 2, picture)

    def _paint_words(self, painter: QPainter, area: QRectF, content: OverlayContent) -> None:
        """The words above, the newest at the end of a full line; the title below, or in the middle alone."""
        colours = self._theme.colours
        plain, italic = self._words_font(italic=False), self._words_font(italic=True)
        has_words = bool(content.stable or content.tentative.strip())
        title_height = QFontMetricsF(self.font()).height()
        upper = QRectF(area.left(), area.top(), area.width(), area.height() - title_height)
        if has_words:
            room = upper.width()
            tentative = QFontMetricsF(italic).elidedText(content.tentative, Qt.TextElideMode.ElideLeft, room)
            rest = room - QFontMetricsF(italic).horizontalAdvance(tentative)
            stable = QFontMetricsF(plain).elidedText(content.stable, Qt.TextElideMode.ElideLeft, rest)
            middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.setFont(plain)
            painter.setPen(QColor(colours.text))
            painter.drawText(upper, middle, stable)
            painter.setFont(italic)
            painter.setPen(QColor(colours.muted))
            painter.drawText(upper.adjusted(QFontMetricsF(plain).horizontalAdvance(stable), 0, 0, 0), middle, tentative)
        painter.setFont(self.font() if has_words else plain)
        quiet = colours.muted if has_words else colours.text
        painter.setPen(QColor(colours.bad if content.tone is Tone.BAD else quiet))
        lower = QRectF(area.left(), area.bottom() - title_height, area.width(), title_height) if has_words else area
        title = painter.fontMetrics().elidedText(content.title, Qt.TextElideMode.ElideRight, round(lower.width()))
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def _paint_level(self, painter: QPainter, level_db: float) -> None:
        colours, space = self._theme.colours, self._theme.spacing
        colour = colours.accent if level_db < LOUD_DB else colours.waiting if level_db < HOT_DB else colours.bad
        track = QRectF(space.m, self.height() - space.s - self._bar_height(), self.width() - 2 * space.m, space.xs)
        radius = track.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.track))
        painter.drawRoundedRect(track, radius, radius)
        painter.setBrush(QColor(colour))
        width = max(track.height(), track.width() * fraction(level_db))
        painter.drawRoundedRect(QRectF(track.left(), track.top(), width, track.height()), radius, radius)
