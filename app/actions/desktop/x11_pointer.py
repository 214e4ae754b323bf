"""The mouse wheel, through XTEST. One worker thread at a time."""

from __future__ import annotations

import threading

import xcffib.xtest

from sayso.app.actions.desktop.base import Rectangle, check
from sayso.app.actions.desktop.x11_connection import X11Connection

_PRESS, _RELEASE = 4, 5
_WHEEL_UP, _WHEEL_DOWN = 4, 5


class X11Pointer:
    """Turns the wheel where a window is."""

    def __init__(self, connection: X11Connection) -> None:
        self._x = connection

    def scroll(self, clicks: int, over: Rectangle, halt: threading.Event) -> None:
        """Turn the wheel over a rectangle, down for positive ``clicks``; a pointer elsewhere comes back afterwards."""
        with self._x.calls() as connection:
            pointer = connection.core.QueryPointer(self._x.root).reply()
            x, y = pointer.root_x - over.x, pointer.root_y - over.y
            inside = 0 <= x < over.width and 0 <= y < over.height
            if not inside:
                self._move(over.x + over.width // 2, over.y + over.height // 2)
            try:
                self._turn(_WHEEL_DOWN if clicks > 0 else _WHEEL_UP, abs(clicks), halt)
            finally:
                if not inside:
                    self._move(pointer.root_x, pointer.root_y)

    def _turn(self, button: int, clicks: int, halt: threading.Event) -> None:
        with self._x.calls() as connection:
            xtest = connection(xcffib.xtest.key)
            for _ in range(clicks):
                check(halt)
                xtest.FakeInput(_PRESS, button, 0, 0, 0, 0, 0)
                xtest.FakeInput(_RELEASE, button, 0, 0, 0, 0, 0)
                self._x.sync()

    def _move(self, x: int, y: int) -> None:
        with self._x.calls() as connection:
            connection.core.WarpPointer(0, self._x.root, 0, 0, 0, 0, x, y)
            self._x.sync()
