"""Going to workspaces, moving windows there, and showing the desktop. One worker thread at a time."""

from __future__ import annotations

import threading

from sayso.app.actions.base import Done, Family, Job, Receipt, Revert, target_window
from sayso.app.actions.desktop.base import Backend, Window
from sayso.app.actions.errors import ActionError
from sayso.app.commands.matching import Match


class WorkspaceActions(Family):
    """“Next workspace”, “move window to workspace 2”, “show desktop”; people count workspaces from 1."""

    family = "workspaces"

    def __init__(self, backend: Backend, own_pid: int) -> None:
        self._backend = backend
        self._own_pid = own_pid

    def perform(self, job: Job) -> Done:
        verb = job.match.command.verb
        if verb == "show_desktop":
            return self._show_desktop(job.halt)
        workspace = self._meant(job.match)
        if verb.startswith("move"):
            window = target_window(self._backend, self._own_pid, job.target)
            if window is None:
                raise ActionError("no_window", "No window is open.")
            return self._move(window, workspace, job.halt)
        before = self._backend.workspaces().current
        return self._went(workspace, self._backend.go_to_workspace(workspace, job.halt), self._back_to(before))

    def _meant(self, match: Match) -> int:
        """The workspace that was said, counted from 0."""
        now = self._backend.workspaces()
        if "workspace" not in match.slots:
            if now.count < 2:
                raise ActionError("only_workspace", "There is only one workspace here.")
            step = -1 if match.slots["step"] == "previous" else 1
            return (now.current + step) % now.count
        number = match.number("workspace", 0)
        if not 1 <= number <= now.count:
            raise ActionError(
                "no_such_workspace", f"There is no workspace {number}; there {_are(now.count)}. Say one of them."
            )
        return number - 1

    def _went(self, workspace: int, arrived: bool, revert: Revert) -> Done:
        if not arrived:
            raise ActionError("workspace_not_shown", f"The window manager did not show workspace {workspace + 1}.")
        return Done(f"workspace {workspace + 1} is shown", revert=revert)

    def _move(self, window: Window, workspace: int, halt: threading.Event) -> Done:
        before = self._backend.workspace_of(window.id)
        name = window.application or window.title or "The window"
        if not self._backend.move_to_workspace(window.id, workspace, halt):
            raise ActionError("window_not_moved", f"The window manager did not move {name}.")

        def revert(halt: threading.Event) -> Done:
            arrived = self._backend.move_to_workspace(window.id, before, halt)
            self._backend.activate(window.id, halt)
            return Done(f"{name} is back") if arrived else Done(f"{name} was asked to come back", Receipt.SENT)

        return Done(f"{name} is on workspace {workspace + 1}", revert=revert)

    def _back_to(self, workspace: int) -> Revert:
        def revert(halt: threading.Event) -> Done:
            arrived = self._backend.go_to_workspace(workspace, halt)
            return Done(f"workspace {workspace + 1} again", Receipt.VERIFIED if arrived else Receipt.SENT)

        return revert

    def _show_desktop(self, halt: threading.Event) -> Done:
        if self._backend.showing_desktop():
            raise ActionError("already_so", "The desktop is shown already.")
        if not self._backend.show_desktop(True, halt):
            raise ActionError("desktop_not_shown", "The window manager did not hide the windows.")

        def revert(halt: threading.Event) -> Done:
            arrived = self._backend.show_desktop(False, halt)
            return Done("the windows are back", Receipt.VERIFIED if arrived else Receipt.SENT)

        return Done("all windows are hidden", revert=revert)


def _are(count: int) -> str:
    return "is only one" if count == 1 else f"are {count}"
