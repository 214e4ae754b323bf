"""Opening applications by name. One worker thread at a time."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

from sayso.app.actions.base import Done, Job, Receipt, Revert
from sayso.app.actions.desktop.base import Backend, Window, check
from sayso.app.actions.entries import Entry, arguments, data_folders, installed
from sayso.app.actions.errors import ActionError
from sayso.app.actions.launch import Launcher
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Ambiguous, Found, Named, resolve

_WINDOW_WAIT_S = 5.0
"""How long a started application's window is waited for; slower ones are reported as started."""
_RUNS_WITHOUT_WINDOW_S = 1.0


class Applications:
    """Installed applications, looked up anew when their folders change."""

    family = "applications"

    def __init__(self, backend: Backend, launcher: Launcher, window_wait_s: float = _WINDOW_WAIT_S) -> None:
        self._backend = backend
        self._launcher = launcher
        self._window_wait_s = window_wait_s
        self._cache: tuple[tuple[tuple[str, int], ...], tuple[Entry, ...]] | None = None

    def entries(self) -> tuple[Entry, ...]:
        """Everything installed; cached until a folder of desktop entries changes."""
        state, cache = self._state(), self._cache
        if cache is None or cache[0] != state:
            cache = self._cache = (state, tuple(installed(self._launcher.environment)))
        return cache[1]

    def names(self) -> list[Named]:
        return [entry.named for entry in self.entries()]

    def describe(self, match: Match) -> str:
        found = resolve(match.slots["application"], self.names())
        return f"Open {found.named.title}" if isinstance(found, Found) else match.title

    def perform(self, job: Job) -> Done:
        entry = self.find(job.match.slots["application"])
        before = self._windows()
        child = self._start(entry)
        if before is None:
            return self._started(entry, child, job.halt)
        return self._with_window(entry, child, before, job.halt)

    def find(self, spoken: str) -> Entry:
        """The application that was meant; ActionError where there is none or two."""
        found = resolve(spoken, self.names())
        if isinstance(found, Found):
            return next(entry for entry in self.entries() if entry.id == found.named.key)
        if isinstance(found, Ambiguous):
            first, second = found.first.title, found.second.title
            raise ActionError("ambiguous_application", f"“{spoken}” may be {first} or {second}. Say which one.")
        nearest = f" Did you mean {found.nearest.title}?" if found.nearest else ""
        raise ActionError("unknown_application", f"No application called “{spoken}” is installed.{nearest}")

    def _start(self, entry: Entry) -> subprocess.Popen[bytes]:
        try:
            command = arguments(entry, path=self._launcher.environment.get("PATH"))
        except ValueError as error:
            raise ActionError("broken_entry", f"{entry.name} cannot be started: {error} ({entry.path}).") from error
        return self._launcher.start(command, entry.name, entry.folder)

    def _started(self, entry: Entry, child: subprocess.Popen[bytes], halt: threading.Event) -> Done:
        """The report where windows cannot be seen."""
        status = self._launcher.wait_for_exit(child, _RUNS_WITHOUT_WINDOW_S, halt)
        if status:
            raise _ended(entry, status)
        return Done("started", Receipt.SENT, title=f"Open {entry.name}")

    def _with_window(
        self, entry: Entry, child: subprocess.Popen[bytes], before: dict[int, Window], halt: threading.Event
    ) -> Done:
        """The report once a new window is there, or an old one of the same application came to the front."""
        active_before = self._active_id()
        until = time.monotonic() + self._window_wait_s
        while time.monotonic() < until:
            check(halt)
            new = [window for window in (self._windows() or {}).values() if window.id not in before]
            own = [window for window in new if belongs(window, entry, child.pid)]
            if own:
                return Done("its window is open", title=f"Open {entry.name}", revert=self._closing(own[0], entry))
            raised = before.get(self._active_id())
            if raised is not None and raised.id != active_before and belongs(raised, entry, child.pid):
                return Done("it was running and is in front now", title=f"Open {entry.name}")
            if status := child.poll():
                raise _ended(entry, status)
            halt.wait(0.05)
        return Done("started; its window has not come up yet", Receipt.SENT, title=f"Open {entry.name}")

    def _closing(self, window: Window, entry: Entry) -> Revert:
        def revert(halt: threading.Event) -> Done:
            if window.id not in (self._windows() or {}):
                raise ActionError("window_gone", f"The window of {entry.name} is closed already.")
            self._backend.close_window(window.id)
            return Done(f"{entry.name} was asked to close its window", Receipt.SENT)

        return revert

    def _windows(self) -> dict[int, Window] | None:
        """Windows by id, or None where this session does not show them."""
        try:
            return {window.id: window for window in self._backend.windows()}
        except ActionError:
            return None

    def _active_id(self) -> int:
        active = self._backend.active_window()
        return active.id if active else 0

    def _state(self) -> tuple[tuple[str, int], ...]:
        """The folders of desktop entries with their times of change."""
        state = []
        for folder in data_folders(self._launcher.environment):
            path = Path(folder, "applications")
            try:
                state.append((str(path), path.stat().st_mtime_ns))
            except OSError:
                state.append((str(path), 0))
        return tuple(state)


def belongs(window: Window, entry: Entry, pid: int = 0) -> bool:
    """Whether a window is an application's, by its process, its window class or its program's name."""
    if pid and window.pid == pid:
        return True
    # An entry that declares its window class may share its program with others.
    own = entry.window_class or Path(entry.program).name
    marks = {own, entry.id.removesuffix(".desktop"), entry.name}
    marks |= {mark.rpartition(".")[2] for mark in marks}
    wanted = {mark.casefold() for mark in marks if mark}
    return bool(wanted & {window.application.casefold(), window.instance.casefold()})


def _ended(entry: Entry, status: int) -> ActionError:
    return ActionError("application_ended", f"{entry.name} ended at once (status {status}).")
