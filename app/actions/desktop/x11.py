"""The X11 backend: one connection with its keyboard and windows, one for the clipboard, one that watches hands.

One worker thread at a time, but for ``interrupt``.
"""

from __future__ import annotations

import threading

from sayso.app.actions.desktop.base import Chord, Placement, Rectangle, Window, Workspaces
from sayso.app.actions.desktop.x11_clipboard import X11Clipboard
from sayso.app.actions.desktop.x11_connection import X11Connection
from sayso.app.actions.desktop.x11_hands import X11Hands
from sayso.app.actions.desktop.x11_keyboard import X11Keyboard
from sayso.app.actions.desktop.x11_picture import picture
from sayso.app.actions.desktop.x11_placing import X11Placing
from sayso.app.actions.desktop.x11_pointer import X11Pointer
from sayso.app.actions.desktop.x11_windows import X11Windows
from sayso.app.actions.desktop.x11_workspaces import X11Workspaces
from sayso.app.actions.errors import ActionError
from sayso.app.actions.png import encode

_SILENT_APPLICATION_S = 0.25
"""How long an application that cannot tell gets to look up a borrowed key before the key is given back."""
_BUSY_APPLICATION_S = 3.0
"""How long one that can tell gets."""
_PASTE_S = 6.0
"""How long an application that was told to paste gets to read the clipboard."""


class X11:
    """See ``base.Backend``. Connects when first used and again after the connection was lost."""

    name = "x11"

    def __init__(self, display: str) -> None:
        self._connection = X11Connection(display)
        self._keyboard = X11Keyboard(self._connection)
        self._clipboard = X11Clipboard(display)
        self._hands = X11Hands(display)
        self._windows = X11Windows(self._connection)
        self._placing = X11Placing(self._connection)
        self._workspaces = X11Workspaces(self._connection)
        self._pointer = X11Pointer(self._connection)

    def windows(self) -> list[Window]:
        return self._windows.all()

    def active_window(self) -> Window | None:
        return self._windows.active()

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        self._keyboard.type_text(text, lambda: self._windows.has_keyboard(window), lambda: self._handled(window), halt)

    def has_keys_for(self, text: str) -> bool:
        return self._keyboard.has_keys_for(text)

    def paste(self, text: str, chord: Chord, window: int, halt: threading.Event, *, primary: bool) -> bool:
        self._keyboard.wait_for_hands_off(halt)
        loan = self._clipboard.lend(text, window, halt, primary=primary)
        try:
            loan.sent = True
            self.press(chord, 1, window, halt)
        except ActionError:
            self._clipboard.give_back()
            raise
        return self._clipboard.taken(loan, _PASTE_S, halt)

    def copy(self, text: str, halt: threading.Event) -> None:
        self._clipboard.copy(text, halt)

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        self._keyboard.press(chord, times, lambda: window is None or self._windows.has_keyboard(window), halt)

    def _handled(self, window: int) -> None:
        self._windows.wait_until_handled(window, _SILENT_APPLICATION_S, _BUSY_APPLICATION_S)

    def activate(self, window: int, halt: threading.Event) -> None:
        self._windows.activate(window, halt)

    def close_window(self, window: int) -> None:
        self._windows.close(window)

    def placement(self, window: int) -> Placement:
        return self._placing.placement(window)

    def place(self, window: int, wanted: Placement, halt: threading.Event) -> bool:
        return self._placing.place(window, wanted, halt)

    def work_area(self, window: int) -> Rectangle:
        return self._placing.work_area(window)

    def workspaces(self) -> Workspaces:
        return self._workspaces.all()

    def go_to_workspace(self, workspace: int, halt: threading.Event) -> bool:
        return self._workspaces.go_to(workspace, halt)

    def workspace_of(self, window: int) -> int:
        return self._workspaces.of(window)

    def move_to_workspace(self, window: int, workspace: int, halt: threading.Event) -> bool:
        return self._workspaces.move(window, workspace, halt)

    def showing_desktop(self) -> bool:
        return self._workspaces.showing_desktop()

    def show_desktop(self, shown: bool, halt: threading.Event) -> bool:
        return self._workspaces.show_desktop(shown, halt)

    def scroll(self, clicks: int, window: int, halt: threading.Event) -> None:
        self._pointer.scroll(clicks, self._placing.placement(window).frame, halt)

    def picture(self, halt: threading.Event) -> bytes:
        return encode(picture(self._connection))

    def input_used(self) -> float | None:
        return self._keyboard.input_used()

    def watch_hands(self, window: int, halt: threading.Event) -> None:
        self._hands.watch(window, halt)

    def untouched(self, window: int, halt: threading.Event) -> bool:
        return self._hands.untouched(window, halt)

    def forget_hands(self, window: int) -> None:
        self._hands.forget(window)

    def interrupt(self) -> None:
        self._connection.interrupt()

    def disconnect(self) -> None:
        self._hands.close()
        self._clipboard.close()
        self._connection.drop()
