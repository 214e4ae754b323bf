"""Everything of the desktop that can be seen: the window, the tray icon and the overlay show the same snapshots.

Where the desktop lets no overlay be placed, messages of the desktop tell what was done.
"""

from __future__ import annotations

from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QApplication

from sayso.app.snapshot import Snapshot
from sayso.ui.desktop_message import MessagePolicy
from sayso.ui.intents import Intents
from sayso.ui.main_window import MainWindow
from sayso.ui.overlay import Overlay, can_show
from sayso.ui.theme import Theme
from sayso.ui.tray import Tray


class Views:
    """Builds them; nothing is shown yet but what a snapshot brings up."""

    def __init__(self, intents: Intents, application: QApplication) -> None:
        theme = Theme(application)
        self.window = MainWindow(intents, theme)
        self._tray = Tray(intents, self.window)
        self._overlay = Overlay(theme)
        self._intents = intents
        self._messages = None if can_show() else MessagePolicy()
        self.has_keyboard = False
        """Whether one of these windows has it; kept here, since other threads read it and must not ask Qt."""
        application.focusWindowChanged.connect(self._focus_changed)

    def _focus_changed(self, window: QWindow | None) -> None:
        self.has_keyboard = window is not None

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.window.show_snapshot(snapshot)
        self._tray.show_snapshot(snapshot)
        self._overlay.show_snapshot(snapshot)
        told = self._messages.update(snapshot) if self._messages is not None else ""
        if told and snapshot.options.overlay and not self.has_keyboard:
            self._intents.options.tell(told)

    def close(self) -> None:
        """Take all of it off the screen."""
        self._tray.close()
        for widget in (self._overlay, self.window):
            widget.hide()
            widget.deleteLater()
