"""How the window in front is shown: minimized, maximized, full screen, one half of the screen. One worker thread."""

from __future__ import annotations

import threading
from dataclasses import replace

from sayso.app.actions.base import Done, Family, Job, Receipt, Revert, target_window
from sayso.app.actions.desktop.base import Backend, Placement, Rectangle, Window
from sayso.app.actions.errors import ActionError
from sayso.app.commands.matching import Match

_DONE = {
    "minimize": "minimized",
    "maximize": "maximized",
    "restore": "at its normal size",
    "full_screen": "full screen",
    "leave_full_screen": "not full screen any more",
}


class Placing(Family):
    """“Maximize window”, “snap left”; every one can be taken back."""

    family = "placing"

    def __init__(self, backend: Backend, own_pid: int) -> None:
        self._backend = backend
        self._own_pid = own_pid
        self._minimized: list[Window] = []
        """Those that we minimized, the latest last: a window that is out of sight cannot be the one in front."""

    def perform(self, job: Job) -> Done:
        verb = job.match.command.verb
        window = target_window(self._backend, self._own_pid, job.target)
        if verb == "restore" and (hidden := self._hidden(window)):
            window = hidden
        if window is None:
            raise ActionError("no_window", "No window is open.")
        before = self._backend.placement(window.id)
        wanted = self._wanted(job.match, window, before)
        if before == wanted:
            raise ActionError("already_so", f"{_name(window)} is shown like that already.")
        arrived = self._backend.place(window.id, wanted, job.halt)
        if wanted.minimized:
            self._minimized.append(window)
        detail = _DONE.get(verb) or f"on the {job.match.slots['side']} half of the screen"
        if not arrived:
            return Done(
                f"asked for it; {_name(window)} is not quite like that", Receipt.SENT, self._back(window, before)
            )
        return Done(f"{_name(window)} is {detail}", revert=self._back(window, before))

    def _wanted(self, match: Match, window: Window, now: Placement) -> Placement:
        match match.command.verb:
            case "minimize":
                return replace(now, minimized=True)
            case "maximize":
                return replace(now, maximized=True, minimized=False, full_screen=False)
            case "full_screen":
                return replace(now, full_screen=True, minimized=False)
            case "leave_full_screen":
                if not now.full_screen:
                    raise ActionError("not_full_screen", f"{_name(window)} is not full screen.")
                return replace(now, full_screen=False)
            case "restore":
                return self._restored(window, now)
        half = _half(self._backend.work_area(window.id), match.slots["side"])
        return Placement(half)

    def _restored(self, window: Window, now: Placement) -> Placement:
        if now.minimized:
            return replace(now, minimized=False)
        if not now.maximized and not now.full_screen:
            raise ActionError("nothing_to_restore", f"{_name(window)} has its normal size already.")
        return replace(now, maximized=False, full_screen=False)

    def _hidden(self, front: Window | None) -> Window | None:
        """The window that we minimized last, unless there is something to restore about the one in front."""
        if front is not None:
            now = self._backend.placement(front.id)
            if now.maximized or now.full_screen:
                return None
        open_windows = {window.id for window in self._backend.windows()}
        while self._minimized:
            window = self._minimized.pop()
            if window.id in open_windows and self._backend.placement(window.id).minimized:
                return window
        return None

    def _back(self, window: Window, before: Placement) -> Revert:
        def revert(halt: threading.Event) -> Done:
            arrived = self._backend.place(window.id, before, halt)
            return Done(f"{_name(window)} is as before", Receipt.VERIFIED if arrived else Receipt.SENT)

        return revert


def _half(area: Rectangle, side: str) -> Rectangle:
    left = area.width // 2
    if side == "left":
        return replace(area, width=left)
    return replace(area, x=area.x + left, width=area.width - left)


def _name(window: Window) -> str:
    return window.application or window.title or "The window"
