"""Bringing a window of ours before the others, as far as the desktop lets us. Qt thread."""

from __future__ import annotations

import os

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

_LET_MS = 400
"""How long a desktop may take to give a window the keyboard."""


def come_forward(window: QWidget, token: str = "") -> None:
    """Show a window before the others.

    ``token`` is the leave that the desktop gave whoever asked for it (Wayland's xdg-activation); empty where it gave
    none.
    """
    if token:
        # From there Qt takes it for the next activation, and removes it.
        os.environ["XDG_ACTIVATION_TOKEN"] = token
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
    if QGuiApplication.platformName().startswith("wayland"):
        QTimer.singleShot(_LET_MS, window, lambda: _come_anew(window))


def _come_anew(window: QWidget) -> None:
    """Wayland desktops often only mark a window that asks to be in front; one that is new comes in front."""
    if window.isVisible() and QGuiApplication.focusWindow() is None:
        window.hide()
        window.show()
