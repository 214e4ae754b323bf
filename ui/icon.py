"""Icons: the drawings of ``assets/icons`` in any colour and size. Qt thread.

The drawings are our own work and use ``currentColor``, which is replaced by the colour asked for, so that they follow
the theme; the logo has its own colours.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_DENSITIES = (1.0, 1.5, 2.0, 3.0)
_PLATE_SIZES = (16, 22, 24, 32, 44, 48, 64)
_LOGO_SIZES = (16, 24, 32, 48, 64, 128, 256)


@lru_cache(maxsize=32)
def _drawing(name: str) -> str:
    return (files("sayso.assets") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def pixmap(name: str, colour: str, size: int, density: float = 1.0) -> QPixmap:
    """The drawing ``name`` as a square of ``size`` device-independent pixels on a screen of this density."""
    renderer = QSvgRenderer(QByteArray(_drawing(name).replace("currentColor", colour).encode()))
    result = QPixmap(round(size * density), round(size * density))
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    renderer.render(painter, QRectF(0, 0, result.width(), result.height()))
    painter.end()
    result.setDevicePixelRatio(density)
    return result


def icon(name: str, colour: str, size: int) -> QIcon:
    """The drawing as an icon, sharp on screens of common densities."""
    result = QIcon()
    for density in _DENSITIES:
        result.addPixmap(pixmap(name, colour, size, density))
    return result


def plate(name: str, colour: str) -> QIcon:
    """The drawing in white on a rounded plate of this colour: seen on any background, as in a panel."""
    result = QIcon()
    for size in _PLATE_SIZES:
        drawn = QPixmap(size, size)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(QRectF(0, 0, size, size), size / 5, size / 5)
        inset = round(size / 8)
        painter.drawPixmap(inset, inset, pixmap(name, "#ffffff", size - 2 * inset))
        painter.end()
        result.addPixmap(drawn)
    return result


def application_icon() -> QIcon:
    result = QIcon()
    for size in _LOGO_SIZES:
        result.addPixmap(pixmap("sayso", "#0b6b6a", size))
    return result
