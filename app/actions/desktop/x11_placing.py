"""How windows are shown: minimized, maximized, full screen and where, through EWMH. One worker thread at a time."""

from __future__ import annotations

import threading
from typing import Any

import xcffib.randr

from sayso.app.actions.desktop.base import Placement, Rectangle
from sayso.app.actions.desktop.x11_connection import X11Connection

_REMOVE, _ADD = 0, 1
_FROM_PAGER = 2
"""EWMH's source indication for requests that the user made."""
_ICONIC = 3
_NORTH_WEST = 1
_ALL_OF_IT = 0xF << 8
"""The flags for x, y, width and height of a move."""
_MAXIMIZED = ("_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ")
_FULL_SCREEN = "_NET_WM_STATE_FULLSCREEN"
_HIDDEN = "_NET_WM_STATE_HIDDEN"
_ROUNDING = 40
"""Pixels by which a terminal may stay below a size that is no whole number of characters."""


class X11Placing:
    """Tells and changes how a window is shown."""

    def __init__(self, connection: X11Connection) -> None:
        self._x = connection

    def placement(self, window: int) -> Placement:
        with self._x.calls():
            self._x.require_manager()
            states = set(self._x.numbers(window, "_NET_WM_STATE"))
            return Placement(
                self._frame(window),
                minimized=self._x.atom(_HIDDEN) in states,
                maximized={self._x.atom(name) for name in _MAXIMIZED} <= states,
                full_screen=self._x.atom(_FULL_SCREEN) in states,
            )

    def place(self, window: int, wanted: Placement, halt: threading.Event) -> bool:
        now = self.placement(window)
        moves = not wanted.maximized and not wanted.full_screen and now.frame != wanted.frame
        with self._x.calls():
            if now.minimized and not wanted.minimized:
                self._x.ask(window, "_NET_ACTIVE_WINDOW", [_FROM_PAGER])
            if now.full_screen != wanted.full_screen:
                self._state(window, wanted.full_screen, _FULL_SCREEN)
            if now.maximized != wanted.maximized:
                self._state(window, wanted.maximized, *_MAXIMIZED)
            if moves:
                self._move(window, wanted.frame)
            if wanted.minimized and not now.minimized:
                self._x.ask(window, "WM_CHANGE_STATE", [_ICONIC])
        return self._x.until(lambda: _as_wanted(self.placement(window), wanted, moves=moves), halt)

    def work_area(self, window: int) -> Rectangle:
        with self._x.calls() as connection:
            frame = self._frame(window)
            middle = frame.x + frame.width // 2, frame.y + frame.height // 2
            monitors = connection(xcffib.randr.key).GetMonitors(self._x.root, True).reply().monitors
            rectangles = [Rectangle(each.x, each.y, each.width, each.height) for each in monitors]
            root = connection.core.GetGeometry(self._x.root).reply()
            whole = Rectangle(0, 0, root.width, root.height)
            monitor = next((each for each in rectangles if _holds(each, middle)), whole)
            areas = self._x.numbers(self._x.root, "_NET_WORKAREA")
            current = next(iter(self._x.numbers(self._x.root, "_NET_CURRENT_DESKTOP")), 0)
            area = areas[4 * current : 4 * current + 4]
            return _common(monitor, Rectangle(*area)) if len(area) == 4 else monitor

    def _frame(self, window: int) -> Rectangle:
        with self._x.calls() as connection:
            geometry: Any = connection.core.GetGeometry(window).reply()
            corner = connection.core.TranslateCoordinates(window, self._x.root, 0, 0).reply()
            left, right, top, bottom = self._border(window)
            return Rectangle(
                corner.dst_x - left, corner.dst_y - top, geometry.width + left + right, geometry.height + top + bottom
            )

    def _border(self, window: int) -> tuple[int, int, int, int]:
        """Widths of the window manager's border: left, right, top, bottom."""
        widths = self._x.numbers(window, "_NET_FRAME_EXTENTS")
        return (widths[0], widths[1], widths[2], widths[3]) if len(widths) == 4 else (0, 0, 0, 0)

    def _state(self, window: int, on: bool, *names: str) -> None:
        atoms = [self._x.atom(name) for name in names]
        first, second = atoms[0], atoms[1] if len(atoms) > 1 else 0
        self._x.ask(window, "_NET_WM_STATE", [_ADD if on else _REMOVE, first, second, _FROM_PAGER])

    def _move(self, window: int, frame: Rectangle) -> None:
        left, right, top, bottom = self._border(window)
        size = [max(1, frame.width - left - right), max(1, frame.height - top - bottom)]
        flags = _NORTH_WEST | _ALL_OF_IT | _FROM_PAGER << 12
        self._x.ask(window, "_NET_MOVERESIZE_WINDOW", [flags, frame.x & 0xFFFF_FFFF, frame.y & 0xFFFF_FFFF, *size])


def _as_wanted(now: Placement, wanted: Placement, *, moves: bool) -> bool:
    """Whether a window is shown as was asked.

    Where a hidden or filling one is, and where one goes that fills no more and was sent nowhere, is the window
    manager's affair.
    """
    if (now.minimized, now.maximized, now.full_screen) != (wanted.minimized, wanted.maximized, wanted.full_screen):
        return False
    if wanted.minimized or not moves:
        return True
    at, to = now.frame, wanted.frame
    corner = abs(at.x - to.x) <= 1 and abs(at.y - to.y) <= 1
    return corner and 0 <= to.width - at.width <= _ROUNDING and 0 <= to.height - at.height <= _ROUNDING


def _holds(rectangle: Rectangle, point: tuple[int, int]) -> bool:
    x, y = point
    return 0 <= x - rectangle.x < rectangle.width and 0 <= y - rectangle.y < rectangle.height


def _common(first: Rectangle, second: Rectangle) -> Rectangle:
    """What two rectangles share; the first where they share nothing."""
    left, top = max(first.x, second.x), max(first.y, second.y)
    right = min(first.x + first.width, second.x + second.width)
    bottom = min(first.y + first.height, second.y + second.height)
    return Rectangle(left, top, right - left, bottom - top) if right > left and bottom > top else first
