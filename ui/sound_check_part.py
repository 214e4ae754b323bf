"""The part of the page *Microphone* that records three seconds and plays them back. Qt thread."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from sayso.app.microphone_check_view import CheckState, MicrophoneCheckView
from sayso.ui.controls import hint, plain_label
from sayso.ui.glyph import Glyph
from sayso.ui.intents import MicrophoneCheckIntents
from sayso.ui.text import breakable
from sayso.ui.theme import Theme, restyle

_WORDS = {
    CheckState.OPENING: "Opening the microphone…",
    CheckState.RECORDING: "Recording: say something…",
    CheckState.PLAYING: "Playing back what was recorded…",
}
_DRAWINGS = {
    CheckState.OPENING: ("waiting", "waiting"),
    CheckState.RECORDING: ("microphone", "accent"),
    CheckState.PLAYING: ("listening", "accent"),
    CheckState.DONE: ("done", "good"),
    CheckState.FAILED: ("failed", "bad"),
}


class SoundCheckPart(QWidget):
    """A button, and a line that says what happens and then how it was."""

    def __init__(self, intents: MicrophoneCheckIntents, theme: Theme) -> None:
        super().__init__()
        self._intents = intents
        self._view = MicrophoneCheckView()
        self.button = QPushButton()
        self.button.clicked.connect(self._press)
        self._glyph = Glyph(theme, "done", "muted")
        self.line = plain_label()
        self.about = hint(
            "Records three seconds and plays them back. The sound stays in memory and is forgotten; while this runs,"
            " nothing is transcribed."
        )
        grid = QGridLayout(self)
        grid.setContentsMargins(0, theme.spacing.m, 0, 0)
        grid.setHorizontalSpacing(theme.spacing.s)
        grid.setVerticalSpacing(theme.spacing.s)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self.button, 0, 0)
        grid.addWidget(self._glyph, 0, 1)
        grid.addWidget(self.line, 0, 2)
        grid.addWidget(self.about, 1, 0, 1, 3)
        self._show()

    def show_check(self, view: MicrophoneCheckView) -> None:
        told = (view.state, view.detail) != (self._view.state, self._view.detail)
        self._view = view
        if told:
            self._show()
            if self.line.text() and self.isVisible() and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.line.text()))

    def _show(self) -> None:
        view = self._view
        self.button.setText("&Stop" if view.runs else "&Hear yourself")
        self.button.setAccessibleDescription(self.about.text())
        self.line.setText(breakable(_WORDS.get(view.state, view.detail)))
        restyle(self.line, "tone", "bad" if view.state is CheckState.FAILED else "")
        drawing = _DRAWINGS.get(view.state)
        self._glyph.setVisible(drawing is not None)
        if drawing is not None:
            self._glyph.show_drawing(*drawing)

    def _press(self) -> None:
        if self._view.runs:
            self._intents.stop_check()
        else:
            self._intents.start_check()
