"""What actions need of a desktop session, whichever it is: windows, keys and text.

Every method but ``interrupt`` blocks and is called from one worker thread at a time. Failure is always an ActionError.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from sayso.app.actions.errors import ActionError

MODIFIERS = ("control", "shift", "alt", "super")
_KEY_TITLES = {"Return": "Enter", "BackSpace": "Backspace", "Super_L": "Super", "space": "Space"}


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window as it was when it was asked for."""

    id: int
    title: str = ""
    instance: str = ""
    """First part of WM_CLASS: “xterm”."""
    application: str = ""
    """Second part of WM_CLASS: “XTerm”."""
    pid: int = 0
    """0 where the window does not tell."""
    age: int = 0
    """Place among all windows by age, 0 for the oldest; the order in which “next window” goes round."""


IN_FRONT = Window(-1, "the window in front", pid=-1)
"""Stands for the window with the keyboard in a session that lets nobody see which one it is, or whose."""


@dataclass(frozen=True, slots=True)
class Chord:
    """Keys pressed together: modifiers of ``MODIFIERS`` and one key by its X keysym name."""

    modifiers: tuple[str, ...]
    key: str

    @property
    def title(self) -> str:
        """“Control+Shift+T”."""
        key = _KEY_TITLES.get(self.key, self.key.replace("_", " "))
        return "+".join([*(name.capitalize() for name in self.modifiers), key.upper() if len(key) == 1 else key])


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Pixels of the whole screen space, from the upper left corner."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Placement:
    """How a window is shown; asking for an earlier one undoes what came between."""

    frame: Rectangle
    """With the window manager's border, as it is now."""
    minimized: bool = False
    maximized: bool = False
    full_screen: bool = False


@dataclass(frozen=True, slots=True)
class Workspaces:
    """How many there are and which is shown, counted from 0."""

    count: int
    current: int


class Backend(Protocol):
    """One kind of session; see ``x11`` and ``none``."""

    name: str

    def windows(self) -> list[Window]:
        """Windows that people switch between, the one in front first."""

    def active_window(self) -> Window | None:
        """The window that has the keyboard."""

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        """Type ``text`` into ``window`` and no other; stops with an error when another window gets the keyboard."""

    def has_keys_for(self, text: str) -> bool:
        """Whether the keyboard's layout has every character of ``text``, so that typing it changes no key."""

    def paste(self, text: str, chord: Chord, window: int, halt: threading.Event, *, primary: bool) -> bool:
        """Put ``text`` on the clipboard, press a chord that pastes, and put back what was on the clipboard.

        True where the window's program read the text. If not, it stays on the clipboard until the program does.
        ``primary`` is for programs that paste what is selected. ActionError “clipboard_not_kept” where what is on the
        clipboard could not be put back; then nothing was done.
        """

    def copy(self, text: str, halt: threading.Event) -> None:
        """Put ``text`` on the clipboard for good."""

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        """Press and release a chord some times, in ``window`` unless that is None."""

    def activate(self, window: int, halt: threading.Event) -> None:
        """Bring a window to the front; returns once it has the keyboard."""

    def close_window(self, window: int) -> None:
        """Ask a window to close, as its close button does."""

    def placement(self, window: int) -> Placement:
        """How a window is shown now."""

    def place(self, window: int, wanted: Placement, halt: threading.Event) -> bool:
        """Show a window another way; True where it is so afterwards. A size may be rounded to whole characters."""

    def work_area(self, window: int) -> Rectangle:
        """The part of the window's monitor that panels leave free."""

    def workspaces(self) -> Workspaces:
        """The workspaces of the window manager."""

    def go_to_workspace(self, workspace: int, halt: threading.Event) -> bool:
        """Show a workspace; True where it is shown afterwards."""

    def workspace_of(self, window: int) -> int:
        """A window's workspace; above the count for a window that is on all."""

    def move_to_workspace(self, window: int, workspace: int, halt: threading.Event) -> bool:
        """Put a window on a workspace; True where it is there afterwards."""

    def showing_desktop(self) -> bool:
        """Whether all windows are hidden to show the desktop."""

    def show_desktop(self, shown: bool, halt: threading.Event) -> bool:
        """Hide all windows, or bring them back; True where it is so afterwards."""

    def scroll(self, clicks: int, window: int, halt: threading.Event) -> None:
        """Turn the wheel over a window, down for a positive number of clicks."""

    def picture(self, halt: threading.Event) -> bytes:
        """What is on the screen, as a PNG file."""

    def input_used(self) -> float | None:
        """When (``time.monotonic``) keyboard or mouse were last used, by hand or by us; None where nobody knows."""

    def watch_hands(self, window: int, halt: threading.Event) -> None:
        """Note from now on whether keys or buttons are used by hand in a window; what we pressed before is none."""

    def untouched(self, window: int, halt: threading.Event) -> bool:
        """True only for a window that is watched, is still there, and in which no key or button was used since."""

    def forget_hands(self, window: int) -> None:
        """Watch a window no more."""

    def interrupt(self) -> None:
        """Make a call that blocks in another thread fail soon. Any thread."""

    def disconnect(self) -> None:
        """Give up the connection; the next call opens one again."""


def check(halt: threading.Event) -> None:
    """Raise where the action was cancelled."""
    if halt.is_set():
        raise ActionError("cancelled", "Cancelled.")
