"""One connection to an X server, opened when first needed and again after it was lost. One worker thread at a time."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import xcffib
import xcffib.xkb
import xcffib.xproto
import xcffib.xtest
from xcffib.xproto import EventMask

from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError

_USE_CORE_KEYBOARD = 0x100
CLIENT_MESSAGE = 33
_MANAGER_WAIT_S = 2.0
"""How long the window manager may take to do what it was asked."""


class X11Connection:
    """The server's objects that the keyboard and the windows use."""

    def __init__(self, display: str) -> None:
        self._display = display
        self._connection: Any = None
        self._atoms: dict[str, int] = {}

    @contextlib.contextmanager
    def calls(self) -> Iterator[Any]:
        """The connection for some requests; errors of X become ActionErrors and a lost connection is dropped."""
        try:
            yield self._open()
        except xcffib.ConnectionException as error:
            self.drop()
            raise ActionError(
                "display_lost",
                f"The display {self._display} does not answer any more. If the session still runs, say it again.",
            ) from error
        except (xcffib.xproto.WindowError, xcffib.xproto.DrawableError, xcffib.xproto.MatchError) as error:
            raise ActionError("window_gone", "The window has closed meanwhile.") from error
        except xcffib.Error as error:
            raise ActionError("display_refused", f"The display refused that ({type(error).__name__}).") from error

    def _open(self) -> Any:
        if self._connection is not None:
            return self._connection
        try:
            connection: Any = xcffib.Connection(display=self._display)
        except xcffib.ConnectionException as error:
            raise ActionError(
                "display_missing",
                f"The display {self._display} cannot be reached. Start Sayso inside a desktop session.",
            ) from error
        try:
            xtest = connection(xcffib.xtest.key)
            xtest.GetVersion(2, 2).reply()
            connection(xcffib.xkb.key).UseExtension(1, 0).reply()
        except (xcffib.XcffibException, KeyError) as error:
            connection.disconnect()
            raise ActionError(
                "display_without_xtest", "This display does not let programs press keys (no XTEST extension)."
            ) from error
        self._atoms.clear()
        self._connection = connection
        return connection

    @property
    def root(self) -> int:
        connection = self._open()
        return int(connection.get_setup().roots[connection.pref_screen].root)

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            reply = self._open().core.InternAtom(False, len(name), name).reply()
            self._atoms[name] = int(reply.atom)
        return self._atoms[name]

    def property(self, window: int, name: str, length: int = 4096) -> Any:
        """A property's reply; its ``value`` is empty where the window lacks it."""
        return self._open().core.GetProperty(False, window, self.atom(name), 0, 0, length).reply()

    def numbers(self, window: int, name: str) -> list[int]:
        """A property of 32-bit numbers."""
        reply = self.property(window, name)
        return [int(number) for number in reply.value.to_atoms()] if reply.format == 32 else []

    def text(self, window: int, name: str) -> str:
        """A property of text; Latin-1 unless it is declared or looks like UTF-8."""
        reply = self.property(window, name)
        raw = bytes(reply.value.buf()) if reply.format == 8 else b""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    def has_manager(self) -> bool:
        """Whether a window manager that follows EWMH is running."""
        return bool(self.numbers(self.root, "_NET_SUPPORTING_WM_CHECK"))

    def require_manager(self) -> None:
        if not self.has_manager():
            raise ActionError("no_window_manager", "No window manager is running, so windows cannot be reached.")

    def ask(self, window: int, message: str, data: list[int]) -> None:
        """Send the window manager a message about a window, with up to five numbers."""
        packed = struct.pack("=BB2xII5I", CLIENT_MESSAGE, 32, window, self.atom(message), *(data + [0] * 5)[:5])
        mask = EventMask.SubstructureNotify | EventMask.SubstructureRedirect
        self._open().core.SendEvent(False, self.root, mask, packed, is_checked=True).check()

    def until(self, holds: Callable[[], bool], halt: threading.Event) -> bool:
        """Whether the window manager brings something about in the time that it may take."""
        until = time.monotonic() + _MANAGER_WAIT_S
        while not holds():
            check(halt)
            if time.monotonic() > until:
                return False
            halt.wait(0.02)
        return True

    def keyboard_state(self) -> Any:
        """XKB's state of the keyboard: held, latched and locked modifiers and the layout group."""
        return self._open()(xcffib.xkb.key).GetState(_USE_CORE_KEYBOARD).reply()

    def lock(self, affect: int, modifiers: int, group: int) -> None:
        """Set the locked modifiers under ``affect`` and the locked layout group."""
        self._open()(xcffib.xkb.key).LatchLockState(_USE_CORE_KEYBOARD, affect, modifiers, True, group, 0, False, 0)

    def flush(self) -> None:
        self._open().flush()

    def sync(self) -> None:
        """Return once the server has done all that was sent."""
        self._open().core.GetInputFocus().reply()

    def interrupt(self) -> None:
        """Let a call that waits in another thread fail: its socket is shut down, not closed."""
        connection = self._connection
        if connection is None:
            return
        with contextlib.suppress(OSError, xcffib.XcffibException):
            duplicate = os.dup(connection.get_file_descriptor())
            with socket.socket(fileno=duplicate) as end:
                end.shutdown(socket.SHUT_RDWR)

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(xcffib.XcffibException):
                connection.disconnect()
