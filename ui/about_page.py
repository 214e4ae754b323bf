"""The page *About*: which Sayso this is, and what to send with a report of a fault. Qt thread."""

from __future__ import annotations

import os

from PySide6.QtCore import QDir, QSaveFile, Qt, qVersion
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFormLayout, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton

from sayso.app.diagnostics import licence, report, version
from sayso.app.snapshot import Snapshot
from sayso.ui import icon
from sayso.ui.controls import hint
from sayso.ui.settings_page import SettingsPage
from sayso.ui.text import breakable
from sayso.ui.theme import Theme

_FILE = "sayso-diagnostics.txt"


class AboutPage(SettingsPage):
    """The diagnostics are shown as they will be copied or saved, so that nobody must trust that nothing is in them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._snapshot: Snapshot | None = None
        logo = QLabel()
        logo.setPixmap(icon.application_icon().pixmap(theme.spacing.times(12), theme.spacing.times(12)))
        form = QFormLayout()
        form.setHorizontalSpacing(theme.spacing.l)
        form.addRow("Version", QLabel(version()))
        form.addRow("Licence", QLabel(licence()))
        self.shown = QPlainTextEdit()
        self.shown.setReadOnly(True)
        self.shown.setTabChangesFocus(True)
        self.shown.setAccessibleName("Diagnostics")
        self.shown.setMinimumHeight(theme.spacing.times(36))
        label = QLabel("&Diagnostics")
        label.setBuddy(self.shown)
        label.setProperty("role", "heading")
        self.copy = QPushButton("&Copy diagnostics")
        self.copy.clicked.connect(self._copy)
        self.save = QPushButton("&Save…")
        self.save.setAccessibleName("Save the diagnostics")
        self.save.clicked.connect(self._ask_where)
        self.done = hint("Send them with a report of a fault. They hold no speech, no words, no keys, and no names.")
        head = QHBoxLayout()
        head.setSpacing(theme.spacing.l)
        head.addWidget(logo, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(form, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.spacing.s)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.save)
        buttons.addStretch(1)
        self.column.addLayout(head)
        self.column.addSpacing(theme.spacing.s)
        self.column.addWidget(label)
        self.column.addWidget(self.shown, 1)
        self.column.addLayout(buttons)
        self.column.addWidget(self.done)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> str:
        """The diagnostics of now, which are then shown too."""
        if self._snapshot is None:
            return ""
        windows = f"Qt {qVersion()} on {QGuiApplication.platformName()}"
        text = report(self._snapshot, os.environ, windows)
        if text != self.shown.toPlainText():
            self.shown.setPlainText(text)
        return text

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._refresh())
        self.done.setText("Copied, as shown.")

    def _ask_where(self) -> None:
        dialog = QFileDialog(self, "Save the diagnostics", QDir.home().filePath(_FILE))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("txt")
        dialog.selectFile(_FILE)
        dialog.fileSelected.connect(self.save_to)
        # open() returns at once; exec() would stop every task of the event loop until the dialog closes.
        dialog.open()

    def save_to(self, path: str) -> None:
        """Write the diagnostics of now into this file, whole or not at all, and say how it went."""
        file = QSaveFile(path)
        content = self._refresh().encode()
        if file.open(QSaveFile.OpenModeFlag.WriteOnly) and file.write(content) == len(content) and file.commit():
            self.done.setText(breakable(f"Saved, as shown, in {path}."))
        else:
            self.done.setText(breakable(f"{path} cannot be written: {file.errorString()}. Choose another place."))
