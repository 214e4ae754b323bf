"""The icon in the system's tray: how Sayso is, in shape and words as well as colour, and the quickest things to do.

Where a tray is, closing the window leaves Sayso there. Qt thread.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from sayso.app.snapshot import DesktopState, MicrophoneState, Mode, ServerKind, Snapshot
from sayso.app.ways_view import Way
from sayso.ui import icon
from sayso.ui.intents import Intents
from sayso.ui.main_window import MainWindow
from sayso.ui.wording import Tone, describe

TOLD = "tray"
"""The code of the notice about the tray, which is also told where it can be seen when the window is away."""

_WAYS = ((Way.HANDS_FREE, "Hands-free"), (Way.TOGGLE, "Press to start, press to stop"), (Way.HOLD, "Hold to talk"))
# White on these is read on light and on dark panels alike.
_PLATES = {
    Tone.CALM: "#55616b",
    Tone.ACTIVE: "#0b6b6a",
    Tone.GOOD: "#17693b",
    Tone.WAITING: "#7d4e00",
    Tone.BAD: "#b3261e",
}


def drawing(snapshot: Snapshot) -> str:
    """The shape that says how it is: each state has its own, for whoever does not tell the colours apart."""
    tone = describe(snapshot).tone
    if tone is Tone.BAD:
        return "failed"
    if tone is Tone.WAITING:
        return "waiting"
    if snapshot.state in (DesktopState.IDLE, DesktopState.QUITTING) or snapshot.asleep:
        return "microphone-off"
    return "heard" if snapshot.microphone.state is MicrophoneState.HEARING else "microphone"


class Tray(QObject):
    """Shows snapshots in the tray. ``take_in`` hides the window there, or says that this cannot be done."""

    def __init__(self, intents: Intents, window: MainWindow) -> None:
        super().__init__(window)
        self._intents = intents
        self._window = window
        self._shown: tuple[str, Tone] | None = None
        self._told = False
        self._close_to_tray = True
        self._server = ServerKind.EMBEDDED
        self.menu = QMenu()
        self.listen = self._action("Start listening", intents.toggle)
        self.menu.addSeparator()
        self.modes = self._choices(
            ("Commands", lambda: intents.set_mode(Mode.COMMANDS)),
            ("Dictation", lambda: intents.set_mode(Mode.DICTATION)),
        )
        self.menu.addSeparator()
        self.ways = self._choices(*((label, partial(intents.ways.use_way, way)) for way, label in _WAYS))
        self.menu.addSeparator()
        self.servers = self._choices(
            ("Engine on this computer", intents.use_embedded), ("Remote server…", self._choose_remote)
        )
        self.menu.addSeparator()
        self.show_window = self._action("Show window", window.come_forward)
        self.quit = self._action("Quit", intents.quit)
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(window.come_forward)
        window.retreat = self.take_in

    def _action(self, text: str, run: object) -> QAction:
        action = self.menu.addAction(text)
        action.triggered.connect(lambda: run())  # type: ignore[operator]
        return action

    def _choices(self, *choices: tuple[str, object]) -> tuple[QAction, ...]:
        group = QActionGroup(self.menu)
        actions = tuple(self._action(text, run) for text, run in choices)
        for action in actions:
            action.setCheckable(True)
            group.addAction(action)
        return actions

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows a snapshot; only what changed is touched, since panels fetch a changed icon anew."""
        state = describe(snapshot)
        self._close_to_tray = snapshot.close_to_tray
        shown = (drawing(snapshot), state.tone)
        if shown != self._shown:
            self._shown = shown
            self.icon.setIcon(icon.plate(shown[0], _PLATES[state.tone]))
            # Without an icon there would be a warning of Qt's instead of a tray icon.
            self.icon.show()
        tip = f"Sayso: {state.headline}"
        if tip != self.icon.toolTip():
            self.icon.setToolTip(tip)
        listening = snapshot.state in (DesktopState.LISTENING, DesktopState.RECONNECTING)
        self.listen.setText("Stop listening" if listening else "Start listening")
        self.modes[snapshot.mode is Mode.DICTATION].setChecked(True)
        self.ways[[way for way, _ in _WAYS].index(snapshot.ways.way)].setChecked(True)
        self._server = snapshot.server.kind
        self._mark_server()
        self._tell(snapshot)

    def _mark_server(self) -> None:
        self.servers[self._server is ServerKind.REMOTE].setChecked(True)

    def _tell(self, snapshot: Snapshot) -> None:
        notice = next((notice for notice in snapshot.notices if notice.code == TOLD), None)
        if notice is not None and not self._told:
            self.icon.showMessage("Sayso", notice.text, QSystemTrayIcon.MessageIcon.Information)
        self._told = notice is not None

    def take_in(self) -> bool:
        """Leave only the tray icon; False where there is no tray, or the user wants the window's end to be the end."""
        if not (self._close_to_tray and QSystemTrayIcon.isSystemTrayAvailable()):
            return False
        self._window.hide()
        self._intents.retreated()
        return True

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Trigger:
            return
        if self._window.isVisible() and self._window.isActiveWindow():
            self._window.close()
        else:
            self._window.come_forward()

    def _choose_remote(self) -> None:
        self._window.come_forward()
        self._window.server.open_remote()
        # Only opened, not chosen yet: the mark stays at the server in use.
        self._mark_server()

    def close(self) -> None:
        """Take the icon out of the tray."""
        self.icon.hide()
        self.menu.deleteLater()
