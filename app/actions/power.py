"""Locking and ending the session, suspending, restarting and shutting down. One worker thread at a time.

All of it is asked of logind, which refuses while a program holds it back; that is told.
"""

from __future__ import annotations

import threading

from jeepney import DBusAddress

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.bus import Bus, comes_true
from sayso.app.actions.errors import ActionError

_LOGIND = "org.freedesktop.login1"
_MANAGER = DBusAddress("/org/freedesktop/login1", _LOGIND, f"{_LOGIND}.Manager")
_SESSION = DBusAddress("/org/freedesktop/login1/session/auto", _LOGIND, f"{_LOGIND}.Session")
_POSSIBLE = ("yes", "challenge")
_DEEDS = {
    "suspend": ("Suspend", "suspended", "suspend"),
    "restart": ("Reboot", "restarted", "restart"),
    "shut_down": ("PowerOff", "shut down", "shut down"),
}
"""Each verb's method of logind's, and the words for whether it can be done and that it was asked for."""


class Power(Family):
    """“Lock the screen”, “suspend the computer”, “shut down”; only whoever sits there can take them back."""

    family = "power"

    def __init__(self, system: Bus) -> None:
        self._system = system

    def perform(self, job: Job) -> Done:
        match job.match.command.verb:
            case "lock":
                return self._lock(job.halt)
            case "log_out":
                return self._log_out()
        return self._do(*_DEEDS[job.match.command.verb])

    def _lock(self, halt: threading.Event) -> Done:
        with self._system.open() as calls:
            calls.call(_SESSION, "Lock")
            if comes_true(lambda: bool(calls.property(_SESSION, "LockedHint")), halt):
                return Done("the session is locked")
        return Done("the session was asked to lock; whether a screen locker did is not known", Receipt.SENT)

    def _log_out(self) -> Done:
        with self._system.open() as calls:
            calls.call(_SESSION, "Terminate")
        return Done("the session was asked to end", Receipt.SENT)

    def _do(self, method: str, possible: str, asked: str) -> Done:
        with self._system.open() as calls:
            if calls.call(_MANAGER, f"Can{method}")[0] not in _POSSIBLE:
                raise ActionError(
                    f"cannot_{asked.replace(' ', '_')}",
                    f"This computer cannot be {possible}, or this user may not do it.",
                )
            calls.call(_MANAGER, method, "b", True)
        return Done(f"the computer was asked to {asked}", Receipt.SENT)
