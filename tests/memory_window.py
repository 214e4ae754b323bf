"""The page about sessions and memory in the real settings window, beside a desktop whose states it shows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from memory_desktop import Desktop
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sayso.app.snapshot import DesktopState, MicrophoneState, MicrophoneView, Mode, Snapshot
from sayso.ui.memory_controls import ControlBox
from sayso.ui.memory_page import MemoryPage
from sayso.ui.settings_window import SettingsWindow
from sayso.ui.theme import Theme

CLOSED = MicrophoneView(MicrophoneState.CLOSED)


class Shown:
    """The window; what is pressed in it reaches the desktop, and what the desktop knows is shown at once."""

    def __init__(self, here: Desktop, application: QApplication) -> None:
        self.here = here
        intents: Any = SimpleNamespace(memory=here.panel)
        self._parent = QWidget()
        self.window = SettingsWindow(intents, Theme(application), self._parent, page="Sessions and memory")
        here.on_change = self.show
        self.window.show()
        self.show()

    @property
    def page(self) -> MemoryPage:
        assert isinstance(self.window.shown, MemoryPage)
        return self.window.shown

    @property
    def boxes(self) -> dict[str, ControlBox]:
        """Every list of values, by the name of its control."""
        return {**self.page.engine.boxes, **self.page.waiting.boxes, **self.page.own.boxes}

    def show(self) -> None:
        here = self.here
        self.window.show_snapshot(
            Snapshot(DesktopState.IDLE, CLOSED, here.server.view, Mode.COMMANDS, memory=here.view),
        )

    def press(self, widget: QWidget, *keys: Qt.Key) -> None:
        """Keys for a control that has the focus."""
        widget.setFocus()
        for key in keys:
            QTest.keyClick(widget, key)

    def close(self) -> None:
        self.here.on_change = lambda: None
        self.window.hide()
        self._parent.deleteLater()


@contextmanager
def shown_window(here: Desktop, application: QApplication) -> Iterator[Shown]:
    made = Shown(here, application)
    try:
        yield made
    finally:
        made.close()
        application.setStyleSheet("")
