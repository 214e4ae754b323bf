"""A connection to X for waiting and answering: its own window, its events, and the server's clock. One thread.

It is apart from ``x11_connection``, whose replies would get in the way of events that other programs wait for.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable
from typing import Any

import xcffib
import xcffib.xproto
from xcffib.xproto import CW, Atom, EventMask, PropertyNotifyEvent, PropMode, WindowClass

from sayso.app.actions.errors import ActionError

_CLOCK_S = 2.0


class X11Events:
    """Handlers get every event; ``pump`` waits for them."""

    def __init__(self, display: str) -> None:
        try:
            connection: Any = xcffib.Connection(display=display)
        except xcffib.ConnectionException as error:
            raise ActionError(
                "display_missing", f"The display {display} cannot be reached. Start Sayso inside a desktop session."
            ) from error
        self.connection = connection
        setup = self.connection.get_setup()
        self.id_mask = int(setup.resource_id_mask)
        screen = setup.roots[self.connection.pref_screen]
        self.window = int(self.connection.generate_id())
        self.connection.core.CreateWindow(
            *(0, self.window, screen.root, -1, -1, 1, 1, 0, WindowClass.InputOnly, 0),
            *(CW.EventMask, [EventMask.PropertyChange]),
        )
        self.handlers: list[Callable[[Any], None]] = []
        self._atoms: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._closing = threading.Lock()
        self._closed = False

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = int(self.connection.core.InternAtom(False, len(name), name).reply().atom)
        return self._atoms[name]

    def name(self, atom: int) -> str:
        if atom not in self._names:
            self._names[atom] = self.connection.core.GetAtomName(atom).reply().name.to_string()
        return self._names[atom]

    def now(self) -> int:
        """The server's clock, in milliseconds; ICCCM wants it wherever the owner of a selection changes."""
        mark, seen = self.atom("_SAYSO_CLOCK"), list[int]()

        def note(event: Any) -> None:
            if isinstance(event, PropertyNotifyEvent) and (event.window, event.atom) == (self.window, mark):
                seen.append(int(event.time))

        self.handlers.append(note)
        try:
            self.connection.core.ChangeProperty(PropMode.Append, self.window, mark, Atom.STRING, 8, 0, b"")
            if not self.pump(lambda: bool(seen), time.monotonic() + _CLOCK_S):
                raise ActionError("display_silent", "The display does not answer. Try again.")
        finally:
            self.handlers.remove(note)
        return seen[-1]

    def wake(self) -> None:
        """Make ``pump`` look at its condition again; after ``close`` nothing has to be woken. Any thread."""
        with self._closing, contextlib.suppress(BlockingIOError):  # A full pipe wakes as well.
            if not self._closed:
                os.write(self._wake_write, b"!")

    def pump(self, until: Callable[[], bool], deadline: float | None = None) -> bool:
        """Handle events until a condition holds, True, or the deadline (``time.monotonic``) has passed, False."""
        waiting = select.poll()
        waiting.register(self.connection.get_file_descriptor(), select.POLLIN)
        waiting.register(self._wake_read, select.POLLIN)
        while True:
            self.connection.flush()
            while (event := self._next()) is not None:
                for handler in tuple(self.handlers):
                    handler(event)
            if until():
                return True
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            self.connection.flush()
            for ready, _ in waiting.poll(None if left is None else max(1.0, 1000 * left)):
                if ready == self._wake_read:
                    os.read(self._wake_read, 4096)

    def _next(self) -> Any:
        """The next event; late errors are passed over, since they are about windows that have closed meanwhile."""
        while True:
            with contextlib.suppress(xcffib.Error):
                return self.connection.poll_for_event()

    def close(self) -> None:
        with self._closing:
            self._closed = True
            for end in (self._wake_read, self._wake_write):
                os.close(end)
        with contextlib.suppress(xcffib.XcffibException):  # One that was lost before needs nothing more.
            self.connection.disconnect()
