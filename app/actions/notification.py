"""Messages on the desktop, through its notification service. Blocks; one worker thread at a time.

Source: freedesktop.org Desktop Notifications Specification 1.2.
"""

from __future__ import annotations

from typing import Any

from jeepney import DBusAddress

from sayso.app.actions.bus import Bus
from sayso.app.desktop_file import APPLICATION

_SERVICE = DBusAddress(
    "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "org.freedesktop.Notifications"
)
_UNTIL_DISMISSED = 0
_AS_USUAL = -1
_CRITICAL = ("y", 2)
_PASSING = {"urgency": ("y", 1), "transient": ("b", True), "desktop-entry": ("s", APPLICATION)}


def notify(bus: Bus, title: str) -> None:
    """Show a message that stays until it is dismissed; ActionError where the desktop has no such service."""
    _notify(bus, title, 0, {"urgency": _CRITICAL}, _UNTIL_DISMISSED)


def mention(bus: Bus, title: str, replaces: int = 0) -> int:
    """Show a message that passes and is kept in no list, in the place of an earlier one; its number.

    Raises ActionError where the desktop has no such service.
    """
    return _notify(bus, title, replaces, _PASSING, _AS_USUAL)


def _notify(bus: Bus, title: str, replaces: int, hints: dict[str, Any], lasts: int) -> int:
    with bus.open() as calls:
        body: tuple[Any, ...] = ("Sayso", replaces, "sayso", title, "", [], hints, lasts)
        return int(calls.call(_SERVICE, "Notify", "susssasa{sv}i", *body)[0])
