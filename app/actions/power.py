"""Locking the session and suspending the computer, through logind. One worker thread at a time."""

from __future__ import annotations

import threading

from jeepney import DBusAddress

from sayso.app.actions.base import Done, Job, Receipt
from sayso.app.actions.bus import Bus, comes_true
from sayso.app.actions.errors import ActionError
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named

_LOGIND = "org.freedesktop.login1"
_MANAGER = DBusAddress("/org/freedesktop/login1", _LOGIND, f"{_LOGIND}.Manager")
_SESSION = DBusAddress("/org/freedesktop/login1/session/auto", _LOGIND, f"{_LOGIND}.Session")
_POSSIBLE = ("yes", "challenge")


class Power:
    """“Lock the screen”, “suspend the computer”; only whoever sits there can take them back."""

    family = "power"

    def __init__(self, system: Bus) -> None:
        self._system = system

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        return self._lock(job.halt) if job.match.command.verb == "lock" else self._suspend()

    def names(self) -> list[Named]:
        return []

    def _lock(self, halt: threading.Event) -> Done:
        with self._system.open() as calls:
            calls.call(_SESSION, "Lock")
            if comes_true(lambda: bool(calls.property(_SESSION, "LockedHint")), halt):
                return Done("the session is locked")
        return Done("the session was asked to lock; whether a screen locker did is not known", Receipt.SENT)

    def _suspend(self) -> Done:
        with self._system.open() as calls:
            if calls.call(_MANAGER, "CanSuspend")[0] not in _POSSIBLE:
                raise ActionError("cannot_suspend", "This computer cannot be suspended, or this user may not do it.")
            calls.call(_MANAGER, "Suspend", "b", True)
        return Done("the computer was asked to suspend", Receipt.SENT)
