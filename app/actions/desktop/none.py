"""Sessions in which Sayso cannot press keys or move windows: every such need is refused, with the reason."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn

from sayso.app.actions.desktop.base import Chord, Placement, Rectangle, Window, Workspaces
from sayso.app.actions.errors import ActionError

NO_DISPLAY = (
    "There is no graphical session here (DISPLAY is not set), so nothing can be typed and no window reached. "
    "Start Sayso inside a desktop session."
)


class Need(StrEnum):
    """What actions need of a session."""

    WINDOWS = "windows"
    KEYS = "keys"
    WHEEL = "wheel"
    WORKSPACES = "workspaces"
    PICTURE = "picture"


class Refusing:
    """A backend that refuses; any thread. ``reason`` is in words for people, and so are those for single needs."""

    def __init__(self, name: str, reason: str, reasons: Mapping[Need, str] | None = None) -> None:
        self.name = name
        self._reason = reason
        self._reasons = dict(reasons or {})

    def _refuse(self, need: Need) -> NoReturn:
        raise ActionError("needs_x11", self._reasons.get(need, self._reason))

    def windows(self) -> list[Window]:
        self._refuse(Need.WINDOWS)

    def active_window(self) -> Window | None:
        self._refuse(Need.WINDOWS)

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        self._refuse(Need.KEYS)

    def has_keys_for(self, text: str) -> bool:
        self._refuse(Need.KEYS)

    def paste(self, text: str, chord: Chord, window: int, halt: threading.Event, *, primary: bool) -> bool:
        self._refuse(Need.KEYS)

    def copy(self, text: str, halt: threading.Event) -> None:
        self._refuse(Need.KEYS)

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        self._refuse(Need.KEYS)

    def activate(self, window: int, halt: threading.Event) -> None:
        self._refuse(Need.WINDOWS)

    def close_window(self, window: int) -> None:
        self._refuse(Need.WINDOWS)

    def placement(self, window: int) -> Placement:
        self._refuse(Need.WINDOWS)

    def place(self, window: int, wanted: Placement, halt: threading.Event) -> bool:
        self._refuse(Need.WINDOWS)

    def work_area(self, window: int) -> Rectangle:
        self._refuse(Need.WINDOWS)

    def workspaces(self) -> Workspaces:
        self._refuse(Need.WORKSPACES)

    def go_to_workspace(self, workspace: int, halt: threading.Event) -> bool:
        self._refuse(Need.WORKSPACES)

    def workspace_of(self, window: int) -> int:
        self._refuse(Need.WORKSPACES)

    def move_to_workspace(self, window: int, workspace: int, halt: threading.Event) -> bool:
        self._refuse(Need.WORKSPACES)

    def showing_desktop(self) -> bool:
        self._refuse(Need.WORKSPACES)

    def show_desktop(self, shown: bool, halt: threading.Event) -> bool:
        self._refuse(Need.WORKSPACES)

    def scroll(self, clicks: int, window: int, halt: threading.Event) -> None:
        self._refuse(Need.WHEEL)

    def picture(self, halt: threading.Event) -> bytes:
        self._refuse(Need.PICTURE)

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
