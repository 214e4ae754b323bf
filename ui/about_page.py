"""The page *About*: which Sayso this is, and what to send with a report of a fault. Qt thread."""

from __future__ import annotations

import os

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFormLayout, QLabel, QPushButton

from sayso.app.diagnostics import report, version
from sayso.app.settings import folder
from sayso.app.snapshot import Snapshot
from sayso.ui.controls import hint
from sayso.ui.settings_page import SettingsPage
from sayso.ui.theme import Theme


class AboutPage(SettingsPage):
    """Which Sayso this is, where it keeps what, and what to send with a report of a fault."""

    keywords = ("Version", "Bug report", "Fault")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._snapshot: Snapshot | None = None
        self.copy = QPushButton("&Copy diagnostics")
        self.copy.clicked.connect(self._copy)
        self.copied = hint("What is copied tells of this system and of Sayso's state: no speech, no words, no keys.")
        place = QLabel(str(folder()))
        place.setWordWrap(True)
        place.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        place.setAccessibleName("Folder of the settings")
        form = QFormLayout()
        form.setHorizontalSpacing(theme.spacing.l)
        form.addRow("Sayso", QLabel(version()))
        form.addRow("Settings", place)
        kept = hint("Sound is kept in memory until it is transcribed, and never written. Words go to no log.")
        self.column.addLayout(form)
        self.column.addWidget(kept)
        self.column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.copied)
        self.column.addStretch(1)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def _copy(self) -> None:
        if self._snapshot is not None:
            windows = f"Qt {qVersion()} on {QGuiApplication.platformName()}"
            QGuiApplication.clipboard().setText(report(self._snapshot, os.environ, windows))
            self.copied.setText("Copied: this system and Sayso's state, without speech, words or keys.")
