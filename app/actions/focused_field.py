"""What programs tell screen readers (AT-SPI) of the field that has the keyboard. One worker thread at a time.

Whether it is a password field, and what stands before its cursor, which is compared and kept nowhere. That is known
only where the session's accessibility is on; nothing is switched on for it. Looking is bounded, and what could not be
found out in time counts as not told: dictation must not depend on how large a window is.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from jeepney import DBusAddress

from sayso.app.actions.bus import Bus, Calls
from sayso.app.actions.desktop.base import IN_FRONT
from sayso.app.actions.errors import ActionError
from sayso.app.actions.fields import Cursor

log = logging.getLogger(__name__)

_LAUNCHER = "org.a11y.Bus"
_STATUS = DBusAddress("/org/a11y/bus", _LAUNCHER, "org.a11y.Status")
_ADDRESS = DBusAddress("/org/a11y/bus", _LAUNCHER, "org.a11y.Bus")
_DAEMON = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
_REGISTRY, _ROOT = "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"
_ACCESSIBLE, _TEXT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text"
_PASSWORD_TEXT = 40
"""The role's number in AT-SPI's list, and below the states'."""
_ACTIVE, _EDITABLE, _FOCUSED, _SHOWING = 1, 7, 12, 25
_LOOKING_S = 0.4
_ANSWER_S = 1.5
"""A program may be busy for a moment; one that hangs would take no text either."""
_MOST = 500
"""Elements looked at."""


Found = TypeVar("Found")


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

    def cursor(self, length: int) -> Cursor | None:
        """Its cursor if it is a field of text."""
        if not self.has(_EDITABLE) or _TEXT not in self._told("GetInterfaces", []):
            return None
        text = DBusAddress(self.path, self.program, _TEXT)
        try:
            offset = int(self.calls.property(text, "CaretOffset"))
            before = (
                self.calls.call(text, "GetText", "ii", max(0, offset - 2 * length), offset)[0] if offset > 0 else ""
            )
        except ActionError:
            return None
        return Cursor(offset, str(before)) if offset >= 0 else None

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


class ToldFields:
    """See ``fields.Fields``. ``session`` is the session's D-Bus."""

    def __init__(self, session: Bus) -> None:
        self._session = session

    def is_secret(self, pid: int) -> bool:
        return bool(self._look(pid, lambda element: element.role == _PASSWORD_TEXT or None))

    def cursor(self, pid: int, length: int) -> Cursor | None:
        return self._look(pid, lambda element: element.cursor(length))

    def _look(self, pid: int, look: Callable[[_Element], Found | None]) -> Found | None:
        """The first answer about what has the keyboard in a program."""
        if not pid:
            return None
        anybody = pid == IN_FRONT.pid
        try:
            with self._session.open(_ANSWER_S) as calls:
                if _LAUNCHER not in calls.services() or not calls.property(_STATUS, "IsEnabled"):
                    return None
                address = str(calls.call(_ADDRESS, "GetAddress")[0])
            with Bus(address).open(_ANSWER_S) as calls:
                programs = _Element(calls, _REGISTRY, _ROOT).children()
                until = time.monotonic() + _LOOKING_S
                asked = (each for each in programs if anybody or each.pid == pid)
                found = (_first_focused(each, look, until, active=anybody) for each in asked)
                return next((each for each in found if each is not None), None)
        except ActionError as error:
            log.debug("fields not known: %s", error.code)
            return None


def _first_focused(
    program: _Element, look: Callable[[_Element], Found | None], until: float, *, active: bool = False
) -> Found | None:
    """The answer about what has the focus in a program; ``active`` looks only into its window in front, if any is."""
    looked_at = 0
    top = program.children() if time.monotonic() < until else []
    waiting = deque(each for each in top if not active or each.has(_ACTIVE))
    while waiting and looked_at < _MOST and time.monotonic() < until:
        element = waiting.popleft()
        looked_at += 1
        if element.has(_FOCUSED) and (found := look(element)) is not None:
            return found
        if element.has(_SHOWING):
            waiting.extend(element.children())
    return None
