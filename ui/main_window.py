"""The main window: composes the parts, hands each its share of a snapshot, and turns what a person does into intents.

It holds no state of the application; ``show_snapshot`` is the only way in and ``Intents`` the only way out. Qt thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QPushButton,
    QSplitter,
    QVBoxLayout,
)

from sayso.app.snapshot import Mode, Snapshot
from sayso.ui import icon
from sayso.ui.announcer import Announcer
from sayso.ui.coming_forward import come_forward
from sayso.ui.feed_view import FeedView
from sayso.ui.intents import Intents
from sayso.ui.notice_bar import NoticeBar
from sayso.ui.page_area import Page, PageArea
from sayso.ui.segments import Choice, Segments
from sayso.ui.server_switch import ServerSwitch
from sayso.ui.side_windows import SideWindows
from sayso.ui.state_bar import StateBar
from sayso.ui.theme import Theme
from sayso.ui.transcript_view import TranscriptView
from sayso.ui.wording import LISTEN_SHORTCUT

if TYPE_CHECKING:
    from sayso.ui.first_run import FirstRunWindow
    from sayso.ui.history_window import HistoryWindow
    from sayso.ui.settings_window import SettingsWindow

_MODES = (Mode.COMMANDS, Mode.DICTATION)
_NARROW_UNITS = 190
"""Below this width, in spacing units, things stand above each other instead of side by side."""


class MainWindow(QMainWindow):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__()
        self._intents = intents
        self._theme = theme
        self._snapshot: Snapshot | None = None
        self._narrow: bool | None = None
        self.beside = SideWindows(intents, theme, self, self._show_notices)
        self.retreat: Callable[[], bool] = lambda: False
        """Where the window goes when it is closed; false when there is nothing but the end."""
        self.setWindowTitle("Sayso")
        self.setWindowIcon(icon.application_icon())
        self.state_bar = StateBar(theme)
        self.notices = NoticeBar(theme, after=self.state_bar.button)
        choices = (
            Choice("&Commands", "Commands are carried out; anything else is only shown"),
            Choice("&Dictation", "What is no command is typed into the focused window"),
        )
        self.mode = Segments("Mode", choices, theme)
        self.server = ServerSwitch(theme)
        self.menu_button = QPushButton("&Menu")
        self.transcript = TranscriptView(theme)
        self.feed = FeedView(theme)
        self.panes = QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self._announcer = Announcer(self)
        self._connect()
        self._add_actions()
        theme.changed.connect(self._paint)
        self._paint()
        self._fit(self.width())

    def _lay_out(self) -> None:
        space = self._theme.spacing
        controls = QFrame()
        controls.setProperty("role", "card")
        self._controls = QGridLayout(controls)
        self._controls.setContentsMargins(space.m, space.s, space.m, space.s)
        self._controls.setHorizontalSpacing(space.m)
        self._controls.setVerticalSpacing(space.s)
        self._controls.setColumnStretch(1, 1)
        # Tab follows the order in which widgets join the window, so the controls join before the panes below them.
        self._arrange_controls(narrow=False)
        self.menu_button.setProperty("role", "quiet")
        self.panes.addWidget(self.transcript)
        self.panes.addWidget(self.feed)
        for pane in (self.transcript, self.feed):
            pane.setMinimumSize(space.times(50), space.times(27))
        self.panes.setStretchFactor(0, 3)
        self.panes.setStretchFactor(1, 2)
        self.panes.setChildrenCollapsible(False)
        self.panes.setHandleWidth(space.s)
        whole = Page()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(space.m, space.m, space.m, space.m)
        layout.setSpacing(space.s)
        layout.addWidget(self.state_bar)
        layout.addWidget(self.notices)
        layout.addWidget(controls)
        layout.addWidget(self.panes, 1)
        self.setCentralWidget(PageArea(whole))
        self.setMinimumSize(space.times(90), space.times(60))
        self.state_bar.button.setFocus()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.spacing.times(250), self._theme.spacing.times(170))

    def _connect(self) -> None:
        self.state_bar.start_pressed.connect(self._intents.start)
        self.state_bar.stop_pressed.connect(self._intents.stop)
        self.notices.dismissed.connect(self._dismiss)
        self.mode.chosen.connect(lambda index: self._intents.set_mode(_MODES[index]))
        self.server.embedded_chosen.connect(self._intents.use_embedded)
        self.server.remote_chosen.connect(self._intents.use_remote)
        self.feed.undo_pressed.connect(self._intents.undo)
        self.feed.confirm_pressed.connect(self._intents.actions.confirm)
        self.feed.refuse_pressed.connect(self._intents.actions.refuse)
        self.transcript.text.insert_wanted.connect(self._intents.actions.insert)

    def _add_actions(self) -> None:
        menu = QMenu(self)
        self._action("Start or stop listening", LISTEN_SHORTCUT, self._intents.toggle, menu)
        self._action("Undo the last action", "Ctrl+Z", self.feed.undo_newest, menu)
        self._action("Answer yes", "Ctrl+Y", lambda: self.feed.answer_newest(True), menu)
        self._action("Answer no", "Ctrl+N", lambda: self.feed.answer_newest(False), menu)
        self._action("Explain the last action", "Ctrl+D", self.feed.explain_newest, menu)
        self._action("Jump to the latest words", "Ctrl+J", self.transcript.follow, menu)
        self._action("Copy the chosen words", "Ctrl+K", self.transcript.text.copy_chosen, menu)
        self._action("Copy the transcript", "Ctrl+Shift+C", self.transcript.text.copy_all, menu)
        self._action("Type the chosen words again", "Ctrl+I", self.transcript.text.insert_chosen, menu)
        menu.addSeparator()
        self._action("Use commands", "Ctrl+1", lambda: self._intents.set_mode(Mode.COMMANDS), menu)
        self._action("Use dictation", "Ctrl+2", lambda: self._intents.set_mode(Mode.DICTATION), menu)
        self._action("Use the embedded engine", "Ctrl+E", self.server.choose_embedded, menu)
        self._action("Use a remote server…", "Ctrl+R", self.server.open_remote, menu)
        menu.addSeparator()
        self._action("Next part of the window", "F6", self._next_part, menu)
        self._action("History…", "Ctrl+H", self.open_history, menu)
        self._action("Settings…", "Ctrl+,", self.open_settings, menu)
        self._action("First steps…", "Ctrl+Shift+F", self._intents.guide.open, menu)
        self._action("Keyboard", "F1", self._show_keyboard, menu)
        menu.addSeparator()
        self._action("Quit", "Ctrl+Q", self._intents.quit, menu)
        dismiss = QAction("Dismiss or take back", self)
        dismiss.setShortcut(QKeySequence("Esc"))
        dismiss.triggered.connect(self._escape)
        self.addAction(dismiss)
        self.menu_button.setMenu(menu)

    def _action(self, text: str, shortcut: str, run: object, menu: QMenu) -> None:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(shortcut))
        action.triggered.connect(lambda: run())  # type: ignore[operator]
        self.addAction(action)
        menu.addAction(action)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows a snapshot; each part compares its own share and touches only what changed."""
        self._snapshot = snapshot
        self.state_bar.show_snapshot(snapshot)
        self.beside.show_snapshot(snapshot)
        self.mode.show_choice(_MODES.index(snapshot.mode))
        self.server.show_server(snapshot.server)
        self.transcript.show_lines(snapshot.lines, snapshot.mode)
        self.feed.show_items(snapshot.feed)
        self._show_notices()

    def _show_notices(self) -> None:
        """The notices of the snapshot and of the windows beside this one, on the screen and read out."""
        if self._snapshot is not None:
            notices = (*self._snapshot.notices, *self.beside.notices)
            self.notices.show_notices(notices)
            self._announcer.show_snapshot(replace(self._snapshot, notices=notices))

    def _dismiss(self, code: str) -> None:
        if not self.beside.dismiss(code):
            self._intents.dismiss(code)

    @property
    def settings(self) -> SettingsWindow | None:
        return self.beside.settings

    @property
    def guide(self) -> FirstRunWindow | None:
        return self.beside.guide

    @property
    def history(self) -> HistoryWindow | None:
        return self.beside.history

    def open_settings(self, page: str = "") -> None:
        """Show the settings, at the page with this title if one is given, beside this window, which goes on working."""
        self.beside.open_settings(page)

    def open_history(self) -> None:
        """Show what was said before, beside this window."""
        self.beside.open_history()

    def come_forward(self, token: str = "") -> None:
        """Show the window before the others, as far as the desktop lets it; ``token`` may be its leave for that."""
        come_forward(self, token)

    def _escape(self) -> None:
        if not self.feed.answer_newest(False) and not self.server.revert():
            self.notices.dismiss_newest()

    def _next_part(self) -> None:
        parts = (
            self.state_bar.button,
            self.server.segments.focus_target(),
            self.transcript.focus_target(),
            self.feed.area,
        )
        focused = self.focusWidget()
        current = next((index for index, part in enumerate(parts) if part is focused), -1)
        parts[(current + 1) % len(parts)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_keyboard(self) -> None:
        dialog = QDialog(self)
        dialog.setWindowTitle("Keyboard")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page = Page()
        form = QFormLayout(page)
        form.setContentsMargins(self._theme.spacing.s, self._theme.spacing.s, 0, self._theme.spacing.s)
        form.setHorizontalSpacing(self._theme.spacing.xl)
        for action in self.actions():
            shortcut = QLabel(action.shortcut().toString(QKeySequence.SequenceFormat.NativeText))
            shortcut.setProperty("role", "heading")
            form.addRow(shortcut, QLabel(action.text().rstrip("…")))
        page.setMinimumHeight(form.sizeHint().height())
        # It scrolls by the arrow keys where the screen is too small for all of them.
        area = PageArea(page)
        area.setAccessibleName("Keyboard")
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        bar = area.verticalScrollBar().sizeHint().width() + self._theme.spacing.m
        area.setMinimumWidth(form.sizeHint().width() + bar)
        close = QPushButton("Close")
        close.clicked.connect(dialog.reject)
        layout = QVBoxLayout(dialog)
        layout.setSpacing(self._theme.spacing.l)
        layout.addWidget(area, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        wanted = page.sizeHint().height() + close.sizeHint().height() + 3 * self._theme.spacing.xl
        dialog.resize(dialog.sizeHint().width(), min(wanted, round(0.85 * self.screen().availableSize().height())))
        # open() returns at once; exec() would stop every task of the event loop until the dialog closes.
        dialog.open()

    def _paint(self) -> None:
        size = self._theme.spacing.times(5)
        self.menu_button.setIcon(icon.icon("menu", self._theme.colours.accent, size))
        self.menu_button.setIconSize(QSize(size, size))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        narrow = width < self._theme.spacing.times(_NARROW_UNITS)
        if narrow is self._narrow:
            return
        self._narrow = narrow
        self.panes.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self.panes.setSizes([600, 400])
        self._arrange_controls(narrow=narrow)

    def _arrange_controls(self, *, narrow: bool) -> None:
        top, right = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignRight
        self._controls.addWidget(self.mode, 0, 0, top)
        if narrow:
            self._controls.addWidget(self.server, 1, 0, 1, 3)
        else:
            self._controls.addWidget(self.server, 0, 1)
        self._controls.addWidget(self.menu_button, 0, 2, top | right)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing goes to the tray, else asks to quit; then the window goes when the last words are finished."""
        event.ignore()
        if not self.retreat():
            self._intents.quit()
