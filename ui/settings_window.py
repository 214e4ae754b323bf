"""The settings: pages that take effect at once, found by a search, beside a window that goes on working. Qt thread.

A page is joined on by one line in ``SettingsWindow.__init__``: title, name of an icon, the page. What the pages are is
``settings_page``, how they are found ``settings_search``, and the field and the list of pages are ``settings_index``.
"""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.ui.about_page import AboutPage
from sayso.ui.commands_page import CommandsPage
from sayso.ui.controls import title_label
from sayso.ui.engine_page import EnginePage
from sayso.ui.intents import Intents
from sayso.ui.listening_page import ListeningPage
from sayso.ui.memory_page import MemoryPage
from sayso.ui.microphone_page import MicrophonePage
from sayso.ui.page_area import PageArea
from sayso.ui.privacy_page import PrivacyPage
from sayso.ui.server_page import ServerPage
from sayso.ui.settings_index import SettingsIndex
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme

PageT = TypeVar("PageT", bound=SettingsPage)


class SettingsWindow(QDialog):
    """Esc closes it, Ctrl+F searches, Ctrl+Page Down and Ctrl+Tab go to the next page.

    ``show_snapshot`` is the only way in, ``Intents`` the way out.
    """

    def __init__(self, intents: Intents, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._joined: list[SettingsPage] = []
        self.setWindowTitle("Settings")
        self.index = SettingsIndex(theme)
        self.pages = QStackedWidget()
        self.heading = title_label()
        self._lay_out()
        self.index.chosen.connect(self._turn_to)
        self.index.pointed.connect(self._bring_into_view)
        self.index.entered.connect(self._enter)
        self.microphone = self._join("Microphone", "microphone", MicrophonePage(intents, theme))
        self.listening = self._join("Listening", "listening", ListeningPage(intents, theme))
        self.engine = self._join("Engine", "engine", EnginePage(intents, theme))
        self.server = self._join("Server", "server", ServerPage(intents, theme))
        self.commands = self._join("Commands", "commands", CommandsPage(intents, theme))
        self.memory = self._join("Sessions and memory", "memory", MemoryPage(intents, theme))
        self.privacy = self._join("Privacy", "privacy", PrivacyPage(intents, theme))
        self.privacy.page_wanted.connect(self.show_page)
        self.about = self._join("About", "notice", AboutPage(theme))
        self._add_shortcuts()
        self.index.show_page(0)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        right = QVBoxLayout()
        right.setSpacing(space.s)
        right.addWidget(self.heading)
        right.addWidget(self.pages, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.xs, space.m)
        layout.setSpacing(space.l)
        layout.addWidget(self.index)
        layout.addLayout(right, 1)
        self.setMinimumSize(space.times(110), space.times(60))
        self.resize(self.sizeHint())

    def _join(self, title: str, icon: str, page: PageT) -> PageT:
        """Add a page; it scrolls when the window is too small for it."""
        self._joined.append(page)
        area = PageArea(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.pages.addWidget(area)
        self.index.add(title, icon, page)
        return page

    def _add_shortcuts(self) -> None:
        for keys, run in {
            "Ctrl+F": self.index.begin_search,
            "Ctrl+PgDown": lambda: self.index.step(1),
            "Ctrl+PgUp": lambda: self.index.step(-1),
            "Ctrl+Tab": lambda: self.index.step(1),
            "Ctrl+Shift+Tab": lambda: self.index.step(-1),
        }.items():
            QShortcut(QKeySequence(keys), self).activated.connect(run)

    def sizeHint(self) -> QSize:
        wanted = QSize(self._theme.spacing.times(200), self._theme.spacing.times(140))
        return wanted.boundedTo(self.screen().availableSize() * 0.95)

    @property
    def page(self) -> str:
        """The title of the page that is shown."""
        return self.index.title(self.pages.currentIndex())

    def show_page(self, title: str) -> None:
        """Turn to the page with this title, in any case of letters; ValueError when there is none."""
        self.index.show_page(self.index.number_of(title))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        for page in self._joined:
            page.show_snapshot(snapshot)

    def _turn_to(self, number: int) -> None:
        self.pages.setCurrentIndex(number)
        self.heading.setText(self.index.title(number))

    def _enter(self, control: QWidget | None) -> None:
        """Go into the page: to what was searched for, else to its first control."""
        page = self._joined[self.pages.currentIndex()]
        if control is None or not control.isVisible() or control.focusPolicy() is Qt.FocusPolicy.NoFocus:
            control = page.first_control()
        if control is not None:
            control.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._bring_into_view(control)

    def _bring_into_view(self, control: QWidget | None) -> None:
        area = self.pages.currentWidget()
        if isinstance(area, PageArea) and control is not None and control.isVisibleTo(area):
            area.ensureWidgetVisible(control)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # A dialog takes Enter in a field for a click on some button; here every change takes effect by itself.
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
