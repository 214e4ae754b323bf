"""Windows through the window manager's EWMH properties. One worker thread at a time."""

from __future__ import annotations

import struct
import threading
import time
from typing import Any

import xcffib
from xcffib.xproto import CW, ClientMessageEvent, EventMask

from sayso.app.actions.desktop.base import Window, check
from sayso.app.actions.desktop.x11_connection import CLIENT_MESSAGE, X11Connection
from sayso.app.actions.errors import ActionError

_ACTIVATE_WAIT_S = 2.0
_FROM_PAGER = 2
"""EWMH's source indication for requests that the user made."""
_NO_FOCUS = (0, 1)
"""“None” and “whatever the pointer is on”, in place of a window."""
_NOT_SWITCHED_TO = ("_NET_WM_WINDOW_TYPE_DESKTOP", "_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_NOTIFICATION")


class X11Windows:
    """Lists, activates and closes windows."""

    def __init__(self, connection: X11Connection) -> None:
        self._x = connection

    def all(self) -> list[Window]:
        with self._x.calls():
            self._x.require_manager()
            by_age = self._x.numbers(self._x.root, "_NET_CLIENT_LIST")
            stacked = self._x.numbers(self._x.root, "_NET_CLIENT_LIST_STACKING") or by_age
            ages = {window: age for age, window in enumerate(by_age)}
            found = [self._describe(window, ages.get(window, len(ages))) for window in reversed(stacked)]
            return [window for window in found if window is not None]

    def active_id(self) -> int:
        """The active window's id, 0 for none."""
        with self._x.calls() as connection:
            if self._x.has_manager():
                active = next(iter(self._x.numbers(self._x.root, "_NET_ACTIVE_WINDOW")), 0)
                # Openbox goes on naming the last window of a session after it has closed.
                return active if active in self._x.numbers(self._x.root, "_NET_CLIENT_LIST") else 0
            focus = int(connection.core.GetInputFocus().reply().focus)
            return 0 if focus in (*_NO_FOCUS, self._x.root) else focus

    def has_keyboard(self, window: int) -> bool:
        """Whether keys go to a window: it is the active one and the server's input focus is inside it.

        The two differ for a moment while the window manager is behind; keys sent then go nowhere.
        """
        with self._x.calls() as connection:
            if self.active_id() != window:
                return False
            focus = int(connection.core.GetInputFocus().reply().focus)
            while focus not in _NO_FOCUS and focus != self._x.root:
                if focus == window:
                    return True
                focus = int(connection.core.QueryTree(focus).reply().parent)
            return False

    def active(self) -> Window | None:
        with self._x.calls():
            window = self.active_id()
            return self._describe(window, 0, any_type=True) if window else None

    def wait_until_handled(self, window: int, at_least_s: float, at_most_s: float) -> None:
        """Return once an application has handled all keys sent to its window.

        EWMH's ping is answered in the order of events, so its answer comes after them. Applications that do not take
        part in it get ``at_least_s``.
        """
        with self._x.calls() as connection:
            if self._x.atom("_NET_WM_PING") not in self._x.numbers(window, "WM_PROTOCOLS"):
                time.sleep(at_least_s)
                return
            connection.core.ChangeWindowAttributes(self._x.root, CW.EventMask, [EventMask.SubstructureNotify])
            try:
                self._ping(window, time.monotonic() + at_most_s)
            finally:
                connection.core.ChangeWindowAttributes(self._x.root, CW.EventMask, [EventMask.NoEvent])
                self._x.sync()

    def _ping(self, window: int, until: float) -> None:
        with self._x.calls() as connection:
            mark = time.monotonic_ns() & 0x7FFF_FFFF
            protocols, ping = self._x.atom("WM_PROTOCOLS"), self._x.atom("_NET_WM_PING")
            packed = struct.pack("=BB2xII5I", CLIENT_MESSAGE, 32, window, protocols, ping, mark, window, 0, 0)
            connection.core.SendEvent(False, window, EventMask.NoEvent, packed, is_checked=True).check()
            while time.monotonic() < until:
                while (event := connection.poll_for_event()) is not None:
                    if _is_answer(event, mark, ping):
                        return
                time.sleep(0.01)

    def activate(self, window: int, halt: threading.Event) -> None:
        """Raise a window and give it the keyboard; returns once it has it."""
        with self._x.calls():
            self._x.require_manager()
            if window not in self._x.numbers(self._x.root, "_NET_CLIENT_LIST"):
                raise ActionError("window_gone", "The window has closed meanwhile.")
            self._x.ask(window, "_NET_ACTIVE_WINDOW", [_FROM_PAGER, 0, 0])
        until = time.monotonic() + _ACTIVATE_WAIT_S
        while not self.has_keyboard(window):
            check(halt)
            if time.monotonic() > until:
                raise ActionError("window_not_shown", "The window did not come to the front.")
            halt.wait(0.02)

    def close(self, window: int) -> None:
        with self._x.calls():
            self._x.require_manager()
            self._x.ask(window, "_NET_CLOSE_WINDOW", [0, _FROM_PAGER])
            self._x.sync()

    def _describe(self, window: int, age: int, any_type: bool = False) -> Window | None:
        """The window's names; None for one that has just closed or that people do not switch to."""
        try:
            types = {self._x.atom(name) for name in _NOT_SWITCHED_TO}
            if not any_type and types & set(self._x.numbers(window, "_NET_WM_WINDOW_TYPE")):
                return None
            instance, _, rest = self._x.text(window, "WM_CLASS").partition("\0")
            title = self._x.text(window, "_NET_WM_NAME") or self._x.text(window, "WM_NAME")
            pid = next(iter(self._x.numbers(window, "_NET_WM_PID")), 0)
        except xcffib.xproto.WindowError:
            return None
        return Window(window, title, instance, rest.rstrip("\0"), pid, age)


def _is_answer(event: Any, mark: int, ping: int) -> bool:
    """Whether an event is the answer to the ping with this mark."""
    return isinstance(event, ClientMessageEvent) and list(event.data.data32[:2]) == [ping, mark]
