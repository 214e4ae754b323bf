"""Whether the keyboard is in a password field, as programs tell screen readers (AT-SPI). One worker thread at a time.

That is known only where the session's accessibility is on; nothing is switched on for it. Looking is bounded, and what
could not be found out in time counts as no password field: dictation must not depend on how large a window is.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress

from sayso.app.actions.bus import Bus, Calls
from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)

_LAUNCHER = "org.a11y.Bus"
_STATUS = DBusAddress("/org/a11y/bus", _LAUNCHER, "org.a11y.Status")
_ADDRESS = DBusAddress("/org/a11y/bus", _LAUNCHER, "org.a11y.Bus")
_DAEMON = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
_REGISTRY, _ROOT = "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_PASSWORD_TEXT = 40
"""The role's number in AT-SPI's list, and below the states'."""
_FOCUSED, _SHOWING = 12, 25
_LOOKING_S = 0.4
_MOST = 500
"""Elements looked at."""


@dataclass(frozen=True, slots=True)
class _Element:
    """A program or a part of its windows. One that has just gone tells nothing, and hides none of the others."""

    calls: Calls
    program: str
    path: str

    def has(self, state: int) -> bool:
        low, high = self._told("GetState", (0, 0))
        return bool((low | high << 32) >> state & 1)

    @property
    def role(self) -> int:
        return int(self._told("GetRole", 0))

    def children(self) -> list[_Element]:
        return [_Element(self.calls, *found) for found in self._told("GetChildren", [])]

    @property
    def pid(self) -> int:
        try:
            return int(self.calls.call(_DAEMON, "GetConnectionUnixProcessID", "s", self.program)[0])
        except ActionError:
            return 0

    def _told(self, method: str, otherwise: Any) -> Any:
        try:
            return self.calls.call(DBusAddress(self.path, self.program, _ACCESSIBLE), method)[0]
        except ActionError:
            return otherwise


class PasswordFields:
    """Looks where the keyboard is in a program. ``session`` is the session's D-Bus."""

    def __init__(self, session: Bus) -> None:
        self._session = session

    def has_keyboard(self, pid: int) -> bool:
        """Whether a password field of the program has the keyboard; False also where that cannot be known."""
        if not pid:
            return False
        until = time.monotonic() + _LOOKING_S
        try:
            with self._session.open(_LOOKING_S) as calls:
                if _LAUNCHER not in calls.services() or not calls.property(_STATUS, "IsEnabled"):
                    return False
                address = str(calls.call(_ADDRESS, "GetAddress")[0])
            with Bus(address).open(_LOOKING_S) as calls:
                programs = _Element(calls, _REGISTRY, _ROOT).children()
                return any(_is_in_password_field(each, until) for each in programs if each.pid == pid)
        except ActionError as error:
            log.debug("fields not known: %s", error.code)
            return False


def _is_in_password_field(program: _Element, until: float) -> bool:
    looked_at = 0
    waiting = deque(program.children())
    while waiting and looked_at < _MOST and time.monotonic() < until:
        element = waiting.popleft()
        looked_at += 1
        if element.has(_FOCUSED) and element.role == _PASSWORD_TEXT:
            return True
        if element.has(_SHOWING):
            waiting.extend(element.children())
    return False
