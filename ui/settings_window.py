"""The settings: pages that take effect at once, beside a window that goes on working. Qt thread."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QTabWidget, QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.ui.intents import Intents
from sayso.ui.settings_pages import AboutPage, CommandsPage, ListeningPage, MicrophonePage
from sayso.ui.theme import Theme


class SettingsWindow(QDialog):
    """Esc closes it; Ctrl+Tab goes from page to page. ``show_snapshot`` is the only way in, ``Intents`` the way out."""

    def __init__(self, intents: Intents, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWindowTitle("Settings")
        self.microphone = MicrophonePage(intents, theme)
        self.listening = ListeningPage(intents, theme)
        self.commands = CommandsPage(theme)
        self.about = AboutPage(theme)
        self.pages = QTabWidget()
        self.pages.setAccessibleName("Pages of the settings")
        self.pages.setUsesScrollButtons(False)
        self.pages.addTab(self.microphone, "Microphone")
        self.pages.addTab(self.listening, "Listening")
        self.pages.addTab(self.commands, "Commands")
        self.pages.addTab(self.about, "About")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.spacing.m, theme.spacing.m, theme.spacing.m, theme.spacing.m)
        layout.addWidget(self.pages)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(160), self._theme.spacing.times(120))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        for page in (self.microphone, self.listening, self.commands, self.about):
            page.show_snapshot(snapshot)
