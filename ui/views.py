"""Everything of the desktop that can be seen: the window, the tray icon and the overlay show the same snapshots."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from sayso.app.snapshot import Snapshot
from sayso.ui.intents import Intents
from sayso.ui.main_window import MainWindow
from sayso.ui.overlay import Overlay
from sayso.ui.theme import Theme
from sayso.ui.tray import Tray


class Views:
    """Builds them; nothing is shown yet but what a snapshot brings up."""

    def __init__(self, intents: Intents, application: QApplication) -> None:
        theme = Theme(application)
        self.window = MainWindow(intents, theme)
        self._tray = Tray(intents, self.window)
        self._overlay = Overlay(theme)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.window.show_snapshot(snapshot)
        self._tray.show_snapshot(snapshot)
        self._overlay.show_snapshot(snapshot)

    def close(self) -> None:
        """Take all of it off the screen."""
        self._tray.close()
        for widget in (self._overlay, self.window):
            widget.hide()
            widget.deleteLater()
