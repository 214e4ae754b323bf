"""Sessions in which Sayso cannot press keys or move windows: every such need is refused, with the reason."""

from __future__ import annotations

import threading
from typing import NoReturn

import numpy as np

from sayso.app.actions.desktop.base import Chord, Placement, Rectangle, Window, Workspaces
from sayso.app.actions.errors import ActionError

NO_DISPLAY = (
    "There is no graphical session here (DISPLAY is not set), so nothing can be typed and no window reached. "
    "Start Sayso inside a desktop session."
)
WAYLAND = (
    "This is a Wayland session, which does not let Sayso press keys or reach windows yet. "
    "Log in with an X11 session (“on Xorg” at the login screen) for typing, keys and windows; "
    "opening applications, web pages and folders, sound, players, timers and sums work here."
)


class Refusing:
    """A backend that refuses; any thread. ``reason`` is in words for people."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self._reason = reason

    def _refuse(self) -> NoReturn:
        raise ActionError("needs_x11", self._reason)

    def windows(self) -> list[Window]:
        self._refuse()

    def active_window(self) -> Window | None:
        self._refuse()

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        self._refuse()

    def has_keys_for(self, text: str) -> bool:
        self._refuse()

    def paste(self, text: str, chord: Chord, window: int, halt: threading.Event, *, primary: bool) -> bool:
        self._refuse()

    def copy(self, text: str, halt: threading.Event) -> None:
        self._refuse()

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        self._refuse()

    def activate(self, window: int, halt: threading.Event) -> None:
        self._refuse()

    def close_window(self, window: int) -> None:
        self._refuse()

    def placement(self, window: int) -> Placement:
        self._refuse()

    def place(self, window: int, wanted: Placement, halt: threading.Event) -> bool:
        self._refuse()

    def work_area(self, window: int) -> Rectangle:
        self._refuse()

    def workspaces(self) -> Workspaces:
        self._refuse()

    def go_to_workspace(self, workspace: int, halt: threading.Event) -> bool:
        self._refuse()

    def workspace_of(self, window: int) -> int:
        self._refuse()

    def move_to_workspace(self, window: int, workspace: int, halt: threading.Event) -> bool:
        self._refuse()

    def showing_desktop(self) -> bool:
        self._refuse()

    def show_desktop(self, shown: bool, halt: threading.Event) -> bool:
        self._refuse()

    def scroll(self, clicks: int, window: int, halt: threading.Event) -> None:
        self._refuse()

    def picture(self) -> np.ndarray:
        self._refuse()

    def input_used(self) -> float | None:
        return None

    def watch_hands(self, window: int, halt: threading.Event) -> None:
        """Nothing is typed here."""

    def untouched(self, window: int, halt: threading.Event) -> bool:
        return False

    def forget_hands(self, window: int) -> None:
        """Nothing is watched here."""

    def interrupt(self) -> None:
        """Nothing blocks here."""

    def disconnect(self) -> None:
        """Nothing is connected here."""
