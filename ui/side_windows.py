"""The windows beside the main one: made when they are opened, and gone, with their memory, when they are closed.

Each comes again where and as it was left. What was typed in the settings and is not in use stays here until Sayso ends,
and a notice says so while the settings are closed. Qt thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QTimer
from PySide6.QtWidgets import QDialog, QWidget

from sayso.app.snapshot import Notice, Snapshot
from sayso.ui.drafts import Drafts, sentence
from sayso.ui.heap import GONE_MS, give_back
from sayso.ui.intents import Intents
from sayso.ui.theme import Theme

if TYPE_CHECKING:
    from sayso.ui.first_run import FirstRunWindow
    from sayso.ui.history_window import HistoryWindow
    from sayso.ui.settings_window import SettingsWindow

DRAFT_NOTICE = "draft"


class SideWindows:
    """``changed`` is told when ``notices`` are others."""

    def __init__(self, intents: Intents, theme: Theme, main: QWidget, changed: Callable[[], None]) -> None:
        self._intents, self._theme, self._main = intents, theme, main
        self._snapshot: Snapshot | None = None
        self._drafts = Drafts(self._drafts_changed)
        self._dismissed = False
        self._changed = changed
        self._page = ""
        self._shapes: dict[type[QDialog], QByteArray] = {}
        self.settings: SettingsWindow | None = None
        self.guide: FirstRunWindow | None = None
        self.history: HistoryWindow | None = None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the main window is to say for them, beside the notices of a snapshot."""
        told = "" if self.settings is not None or self._dismissed else sentence(self._drafts.told)
        return (Notice(DRAFT_NOTICE, f"{told} It is there again when you open the settings."),) if told else ()

    def dismiss(self, code: str) -> bool:
        """Take the notice with this code away; false where it is none of these. What was typed stays."""
        if code != DRAFT_NOTICE:
            return False
        self._dismissed = True
        self._changed()
        return True

    def _drafts_changed(self) -> None:
        self._dismissed = False
        self._changed()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        if self.settings is not None:
            self.settings.show_snapshot(snapshot)
        self._show_guide(snapshot)
        if self.history is not None:
            self.history.show_snapshot(snapshot)

    def open_settings(self, page: str = "") -> None:
        """Show the settings, at the page with this title or where they were left."""
        if self.settings is None:
            # These windows are loaded when they are opened: most days nobody needs their memory.
            from sayso.ui.settings_window import SettingsWindow

            self.settings = SettingsWindow(
                self._intents,
                self._theme,
                self._main,
                drafts=self._drafts,
                page=page or self._page,
                snapshot=self._snapshot,
            )
            self.settings.finished.connect(self._leave_settings)
            self._restore(self.settings)
            self._changed()
        elif page:
            self.settings.show_page(page)
        _come_forward(self.settings)

    def _leave_settings(self) -> None:
        if self.settings is not None:
            left, self.settings = self.settings, None
            left.put_down()
            self._page = left.page
            self._end(left)
            self._changed()

    def open_history(self) -> None:
        """Show what was said before."""
        if self.history is None:
            from sayso.ui.history_window import HistoryWindow

            self.history = HistoryWindow(self._intents, self._theme, self._main)
            self.history.finished.connect(self._leave_history)
            self._restore(self.history)
        if self._snapshot is not None:
            self.history.show_snapshot(self._snapshot)
        _come_forward(self.history)

    def _leave_history(self) -> None:
        if self.history is not None:
            left, self.history = self.history, None
            self._end(left)

    def _show_guide(self, snapshot: Snapshot) -> None:
        """The guide is open while the snapshot says so."""
        if snapshot.guide.is_open and self.guide is None:
            from sayso.ui.first_run import FirstRunWindow

            self.guide = FirstRunWindow(self._intents, self._theme, self._main, self._drafts)
            self._restore(self.guide)
        if self.guide is None:
            return
        if not snapshot.guide.is_open:
            left, self.guide = self.guide, None
            left.put_down()
            left.hide()
            self._end(left)
            return
        self.guide.show_snapshot(snapshot)
        if self._main.isVisible() and not self.guide.isVisible():
            self.guide.show()

    def _restore(self, window: QDialog) -> None:
        if (shape := self._shapes.get(type(window))) is not None:
            window.restoreGeometry(shape)

    def _end(self, window: QDialog) -> None:
        """Give back what a window that was closed takes, some 10 MB with its widgets and what paints them."""
        self._shapes[type(window)] = window.saveGeometry()
        window.deleteLater()
        QTimer.singleShot(GONE_MS, give_back)


def _come_forward(window: QDialog) -> None:
    window.show()
    window.raise_()
    window.activateWindow()
