"""The page *Privacy*: what leaves this machine, what is kept on it and where, and what can be forgotten. Qt thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from sayso.app import privacy
from sayso.app.snapshot import Snapshot
from sayso.ui.controls import hint, plain_label
from sayso.ui.intents import Intents
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle


def heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "heading")
    return label


class KeptRow(QObject):
    """One kind of thing that is kept; emits ``open_wanted`` with its folder."""

    open_wanted = Signal(object)

    def __init__(self, name: str, grid: QGridLayout, row: int) -> None:
        super().__init__(grid)
        self._kept: privacy.Kept | None = None
        title = QLabel(name)
        self.text = hint()
        self.button = QPushButton("Open folder")
        self.button.setAccessibleName(f"Open the folder: {name}")
        self.button.clicked.connect(lambda: self.open_wanted.emit(self._kept.place if self._kept else None))
        for column, widget in enumerate((title, self.text, self.button)):
            grid.addWidget(widget, row, column, Qt.AlignmentFlag.AlignTop)

    def show_kept(self, kept: privacy.Kept) -> None:
        if kept != self._kept:
            self._kept = kept
            self.text.setText(breakable(kept.text if kept.place is None else f"{kept.text}\n{kept.place}"))
            self.button.setVisible(kept.place is not None)


class PrivacyPage(SettingsPage):
    def __init__(self, intents: Intents, theme: Theme) -> None:
        super().__init__(theme)
        self._intents = intents
        self._rows: dict[str, KeptRow] = {}
        self._key_url = ""
        self.leaves = plain_label()
        self.change = QPushButton("Change the &server…")
        self.change.clicked.connect(lambda: self.page_wanted.emit("Server"))
        web = hint("Commands that open or search the web hand their words to your browser.")
        self._last: QWidget = self.change
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.spacing.m)
        self._grid.setVerticalSpacing(theme.spacing.s)
        self._grid.setColumnStretch(1, 1)
        self.opened = hint()
        self.opened.hide()
        self.key_line, self.session_line = plain_label(), plain_label()
        self.remove_key = QPushButton("Remove the &key")
        self.remove_key.clicked.connect(self._remove_key)
        self.forget = QPushButton("&Forget them")
        self.forget.setAccessibleName("Forget what was said in this session")
        self.forget.clicked.connect(lambda: intents.forget_session())
        self.nothing = hint("There is nothing to clear.")
        for widget in (heading("What leaves this computer"), self.leaves):
            self.column.addWidget(widget)
        self.column.addWidget(self.change, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(web)
        self.column.addSpacing(theme.spacing.m)
        self.column.addWidget(heading("What is kept"))
        self.column.addLayout(self._grid)
        self.column.addWidget(self.opened)
        self.column.addSpacing(theme.spacing.m)
        self.column.addWidget(heading("What can be cleared"))
        self.column.addLayout(self._clearing(theme))
        self.column.addWidget(self.nothing)
        self.column.addStretch(1)

    def _clearing(self, theme: Theme) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.spacing.m)
        grid.setVerticalSpacing(theme.spacing.s)
        grid.setColumnStretch(0, 1)
        for row, (line, button) in enumerate(((self.session_line, self.forget), (self.key_line, self.remove_key))):
            grid.addWidget(line, row, 0)
            grid.addWidget(button, row, 1)
        return grid

    def show_snapshot(self, snapshot: Snapshot) -> None:
        flow = privacy.speech_flow(snapshot.server)
        self.leaves.setText(breakable(flow.text))
        restyle(self.leaves, "tone", "waiting" if flow.worrying else "")
        for kept in privacy.kept_on_disk(snapshot):
            self._show_kept(kept)
        servers = snapshot.servers
        self._key_url = servers.url
        key = privacy.key_words(servers.url, servers.key_place) if servers.key_url == servers.url else ""
        session = privacy.session_words(snapshot)
        for line, button, text in (
            (self.session_line, self.forget, session),
            (self.key_line, self.remove_key, key),
        ):
            line.setText(breakable(text))
            line.setVisible(bool(text))
            button.setVisible(bool(text))
        self.nothing.setVisible(not key and not session)

    def _show_kept(self, kept: privacy.Kept) -> None:
        row = self._rows.get(kept.name)
        if row is None:
            row = self._rows[kept.name] = KeptRow(kept.name, self._grid, len(self._rows))
            row.open_wanted.connect(self._open)
            self.setTabOrder(self._last, row.button)
            self._last = row.button
        row.show_kept(kept)

    def _open(self, place: Path) -> None:
        if not place.is_dir():
            told = f"{place} does not exist yet."
        elif QDesktopServices.openUrl(QUrl.fromLocalFile(str(place))):
            told = ""
        else:
            told = f"No program of this desktop opens folders. It is {place}."
        self.opened.setText(breakable(told))
        self.opened.setVisible(bool(told))

    def _remove_key(self) -> None:
        self.change.setFocus(Qt.FocusReason.OtherFocusReason)
        self._intents.servers.remove_key(self._key_url)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._key_url:
            self._intents.servers.look_for_key(self._key_url)
