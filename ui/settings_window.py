"""The settings: pages that take effect at once, found by a search, beside a window that goes on working. Qt thread.

One page is there at a time: it is made when it is turned to and ends when it is left, which keeps the window small
whichever pages are looked at. What was typed and is not in use waits in ``drafts``. What the pages are is
``settings_contents``, how they are found ``settings_search``; the field and the list of pages are ``settings_index``.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sayso.app.snapshot import Snapshot
from sayso.ui.controls import title_label
from sayso.ui.draft_bar import DraftBar
from sayso.ui.drafts import Drafts
from sayso.ui.heap import GONE_MS, give_back
from sayso.ui.intents import Intents
from sayso.ui.page_area import PageArea
from sayso.ui.settings_contents import PAGES
from sayso.ui.settings_index import SettingsIndex
from sayso.ui.settings_page import SettingsPage
from sayso.ui.settings_search import control_of
from sayso.ui.theme import Theme


class SettingsWindow(QDialog):
    """Esc closes it, Ctrl+F searches, Ctrl+Page Down and Ctrl+Tab go to the next page.

    ``show_snapshot`` is the only way in, ``Intents`` the way out.
    """

    def __init__(
        self,
        intents: Intents,
        theme: Theme,
        parent: QWidget,
        *,
        drafts: Drafts | None = None,
        page: str = "",
        snapshot: Snapshot | None = None,
    ) -> None:
        """``drafts`` outlive the window; ``page`` is the title of the one that is shown first."""
        super().__init__(parent)
        self._intents = intents
        self._theme = theme
        self._drafts = drafts if drafts is not None else Drafts()
        self._snapshot = snapshot
        self._number = -1
        self._shown: SettingsPage | None = None
        self.setWindowTitle("Settings")
        self.index = SettingsIndex(theme, PAGES)
        self.pages = QStackedWidget()
        self.heading = title_label()
        self.draft_bar = DraftBar(theme)
        self._trim = QTimer(self)
        self._trim.setSingleShot(True)
        self._trim.setInterval(GONE_MS)
        self._trim.timeout.connect(give_back)
        self._lay_out()
        self.index.chosen.connect(self._turn_to)
        self.index.pointed.connect(self._point_at)
        self.index.entered.connect(self._enter)
        self.draft_bar.page_wanted.connect(self.show_page)
        self.draft_bar.discarded.connect(self._discard)
        self._add_shortcuts()
        self.index.show_page(self.index.number_of(page) if page else 0)

    def _lay_out(self) -> None:
        space = self._theme.spacing
        right = QVBoxLayout()
        right.setSpacing(space.s)
        right.addWidget(self.heading)
        bar = QHBoxLayout()
        bar.setContentsMargins(0, 0, space.s, 0)
        bar.addWidget(self.draft_bar)
        right.addLayout(bar)
        right.addWidget(self.pages, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(space.m, space.m, space.xs, space.m)
        layout.setSpacing(space.l)
        layout.addWidget(self.index)
        layout.addLayout(right, 1)
        self.setMinimumSize(space.times(110), space.times(60))
        self.resize(self.sizeHint())

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
        return PAGES[self._number].title

    @property
    def shown(self) -> SettingsPage:
        """The page that is shown; it ends when another one is turned to."""
        assert self._shown is not None
        return self._shown

    def show_page(self, title: str) -> None:
        """Turn to the page with this title, in any case of letters; ValueError when there is none."""
        self.index.show_page(self.index.number_of(title))

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.shown.show_snapshot(snapshot)

    def put_down(self) -> None:
        """Take into use what was typed on the page that is shown, and keep what cannot be as its draft."""
        self.shown.finish()
        self._drafts.keep(self.page, self.shown.draft())

    def _turn_to(self, number: int) -> None:
        if number == self._number:
            return
        left = self.pages.currentWidget()
        if self._shown is not None:
            self.put_down()
        self._number = number
        self._shown = self._made(number)
        area = PageArea(self._shown, self.pages)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.pages.addWidget(area)
        self.pages.setCurrentWidget(area)
        self.heading.setText(PAGES[number].title)
        self.draft_bar.show_told(self._drafts.told)
        if left is not None:
            self.pages.removeWidget(left)
            # Later, since it may be a press of one of its buttons that turns the page.
            left.deleteLater()
        self._trim.start()

    def _made(self, number: int) -> SettingsPage:
        entry = PAGES[number]
        page = entry.make(self._intents, self._theme)
        page.setAccessibleName(entry.title)
        page.page_wanted.connect(self.show_page)
        if self._snapshot is not None:
            page.show_snapshot(self._snapshot)
        draft = self._drafts.take(entry.title)
        if draft is not None:
            page.take_up(draft)
        return page

    def _discard(self, title: str) -> None:
        self._drafts.keep(title, None)
        self.draft_bar.show_told(self._drafts.told)

    def _enter(self, query: str) -> None:
        """Go into the page: to what was searched for, else to its first control."""
        control = control_of(query, self.page, self.shown)
        if control is None or not control.isVisible() or control.focusPolicy() is Qt.FocusPolicy.NoFocus:
            control = self.shown.first_control()
        if control is not None:
            control.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._bring_into_view(control)

    def _point_at(self, query: str) -> None:
        self._bring_into_view(control_of(query, self.page, self.shown))

    def _bring_into_view(self, control: QWidget | None) -> None:
        area = self.pages.currentWidget()
        if isinstance(area, PageArea) and control is not None and control.isVisibleTo(area):
            area.ensureWidgetVisible(control)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # A dialog takes Enter in a field for a click on some button; here every change takes effect by itself.
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
