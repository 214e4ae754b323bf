"""Closing and switching windows. One worker thread at a time."""

from __future__ import annotations

import threading
import time

from sayso.app.actions.applications import Applications, belongs
from sayso.app.actions.base import Done, Family, Job, Receipt, Revert, target_window
from sayso.app.actions.desktop.base import Backend, Window, check
from sayso.app.actions.errors import ActionError
from sayso.app.commands.names import Ambiguous, Found, Named, resolve

_CLOSE_WAIT_S = 2.0


class Windows(Family):
    """Windows by place (“next window”) and by application (“switch to Firefox”)."""

    family = "windows"

    def __init__(self, backend: Backend, applications: Applications, own_pid: int) -> None:
        self._backend = backend
        self._applications = applications
        self._own_pid = own_pid

    def perform(self, job: Job) -> Done:
        verb = job.match.command.verb
        if verb == "close":
            return self._close(self._meant(job), job.halt)
        if verb == "close_application":
            return self._close(self._named(job.match.slots["application"]), job.halt)
        if verb == "switch":
            return self._switch(self._named(job.match.slots["application"]), job.halt)
        return self._switch(self._neighbour(-1 if verb == "previous" else 1), job.halt)

    def names(self) -> list[Named]:
        """Open windows by the names of their applications; none where they cannot be seen."""
        try:
            windows = self._others()
        except ActionError:
            return []
        # Titles are left out here: any word of a document's name would make ordinary text a command.
        return [
            Named(str(window.id), _title(window), _kind(window), aliases=self._aliases(window)) for window in windows
        ]

    def _aliases(self, window: Window) -> tuple[str, ...]:
        """What people call windows of its application's kind."""
        owners = (entry for entry in self._applications.entries() if entry.aliases and belongs(window, entry))
        return tuple(alias for entry in owners for alias in entry.aliases)

    def _others(self) -> list[Window]:
        return [window for window in self._backend.windows() if window.pid != self._own_pid]

    def _meant(self, job: Job) -> Window:
        window = target_window(self._backend, self._own_pid, job.target)
        if window is None:
            raise ActionError("no_window", "No window is open.")
        return window

    def _named(self, spoken: str) -> Window:
        """The frontmost window of an application, or the one with that title."""
        windows = self._others()
        entries = resolve(spoken, self._applications.names())
        if isinstance(entries, Found):
            entry = next(entry for entry in self._applications.entries() if entry.id == entries.named.key)
            if own := [window for window in windows if belongs(window, entry)]:
                return own[0]
        kinds: dict[str, Window] = {}
        for window in windows:
            kinds.setdefault(window.application or window.title, window)
        things = [
            Named(kind, _title(window), _names(window), aliases=self._aliases(window)) for kind, window in kinds.items()
        ]
        found = resolve(spoken, things)
        if isinstance(found, Found):
            return kinds[found.named.key]
        if isinstance(found, Ambiguous):
            raise ActionError(
                "ambiguous_window", f"“{spoken}” may be {found.first.title} or {found.second.title}. Say which one."
            )
        name = entries.named.title if isinstance(entries, Found) else f"“{spoken}”"
        raise ActionError("no_such_window", f"No window of {name} is open. To start it, say “open” and its name.")

    def _neighbour(self, step: int) -> Window:
        stacked = self._others()
        windows = sorted(stacked, key=lambda window: window.age)
        if not windows:
            raise ActionError("no_window", "No window is open.")
        active = self._backend.active_window()
        place = next((at for at, window in enumerate(windows) if active and window.id == active.id), None)
        if place is None:
            # Our own window is in front: the next one is the one behind it.
            return stacked[0]
        if len(windows) == 1:
            raise ActionError("only_window", "There is no other window.")
        return windows[(place + step) % len(windows)]

    def _switch(self, window: Window, halt: threading.Event) -> Done:
        before = self._backend.active_window()
        self._backend.activate(window.id, halt)
        title = f"Switch to {_title(window)}"
        return Done("in front", title=title, revert=self._back_to(before) if before else None)

    def _back_to(self, window: Window) -> Revert:
        def revert(halt: threading.Event) -> Done:
            self._backend.activate(window.id, halt)
            return Done(f"{_title(window)} is in front again")

        return revert

    def _close(self, window: Window, halt: threading.Event) -> Done:
        title = f"Close {_title(window)}"
        self._backend.close_window(window.id)
        until = time.monotonic() + _CLOSE_WAIT_S
        while time.monotonic() < until:
            check(halt)
            if window.id not in {other.id for other in self._backend.windows()}:
                return Done("closed", title=title)
            halt.wait(0.02)
        return Done("asked to close; it is still open, perhaps it asks whether to save", Receipt.SENT, title=title)


def _title(window: Window) -> str:
    return window.application or window.title or "the window"


def _kind(window: Window) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in (window.application, window.instance) if name))


def _names(window: Window) -> tuple[str, ...]:
    """What a window may be called: its application, and its title in parts (“notes.txt - Editor”)."""
    parts = [part.strip() for part in window.title.replace("\u2014", " - ").replace("\u2013", " - ").split(" - ")]
    return tuple(dict.fromkeys([*_kind(window), *(name for name in (window.title, *parts) if name)]))
