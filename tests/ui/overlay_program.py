"""The overlay alone, for tests of where it stands: it is shown at `show`, gone at `hide`, one word a line of stdin."""

from __future__ import annotations

import sys
import threading

import overlay_scenes
import scenes
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from sayso.ui.overlay import Overlay
from sayso.ui.theme import Theme


class Orders(QObject):
    given = Signal(str)


def main() -> None:
    application = QApplication(sys.argv)
    application.setQuitOnLastWindowClosed(False)
    overlay = Overlay(Theme(application), is_watched=lambda: False)
    snapshots = {"show": scenes.listening(), "hide": overlay_scenes.BEFORE}
    orders = Orders()
    orders.given.connect(lambda order: overlay.show_snapshot(snapshots[order]))

    def read() -> None:
        for line in sys.stdin:
            orders.given.emit(line.strip())

    orders.given.emit("hide")
    threading.Thread(target=read, daemon=True).start()
    application.exec()


if __name__ == "__main__":
    main()
