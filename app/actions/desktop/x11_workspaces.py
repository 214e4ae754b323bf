"""Workspaces and showing the desktop, through EWMH. One worker thread at a time."""

from __future__ import annotations

import threading

from sayso.app.actions.desktop.base import Workspaces
from sayso.app.actions.desktop.x11_connection import X11Connection

_FROM_PAGER = 2
"""EWMH's source indication for requests that the user made."""


class X11Workspaces:
    """Tells and changes which workspace is shown and which windows are on it."""

    def __init__(self, connection: X11Connection) -> None:
        self._x = connection

    def all(self) -> Workspaces:
        with self._x.calls():
            self._x.require_manager()
            return Workspaces(self._of_root("_NET_NUMBER_OF_DESKTOPS", 1), self._of_root("_NET_CURRENT_DESKTOP", 0))

    def go_to(self, workspace: int, halt: threading.Event) -> bool:
        with self._x.calls():
            self._x.ask(self._x.root, "_NET_CURRENT_DESKTOP", [workspace])
        return self._x.until(lambda: self.all().current == workspace, halt)

    def of(self, window: int) -> int:
        with self._x.calls():
            return next(iter(self._x.numbers(window, "_NET_WM_DESKTOP")), 0)

    def move(self, window: int, workspace: int, halt: threading.Event) -> bool:
        with self._x.calls():
            self._x.ask(window, "_NET_WM_DESKTOP", [workspace, _FROM_PAGER])
        return self._x.until(lambda: self.of(window) == workspace, halt)

    def showing_desktop(self) -> bool:
        with self._x.calls():
            self._x.require_manager()
            return bool(self._of_root("_NET_SHOWING_DESKTOP", 0))

    def show_desktop(self, shown: bool, halt: threading.Event) -> bool:
        with self._x.calls():
            self._x.ask(self._x.root, "_NET_SHOWING_DESKTOP", [int(shown)])
        return self._x.until(lambda: self.showing_desktop() == shown, halt)

    def _of_root(self, name: str, default: int) -> int:
        return next(iter(self._x.numbers(self._x.root, name)), default)
