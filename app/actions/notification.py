"""Messages on the desktop, through its notification service. Blocks; one worker thread at a time.

Source: freedesktop.org Desktop Notifications Specification 1.2.
"""

from __future__ import annotations

from typing import Any

from jeepney import DBusAddress

from sayso.app.actions.bus import Bus

_SERVICE = DBusAddress(
    "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "org.freedesktop.Notifications"
)
_UNTIL_DISMISSED = 0
_CRITICAL = ("y", 2)


def notify(bus: Bus, title: str) -> None:
    """Show a message that stays until it is dismissed; ActionError where the desktop has no such service."""
    with bus.open() as calls:
        body: tuple[Any, ...] = ("Sayso", 0, "sayso", title, "", [], {"urgency": _CRITICAL}, _UNTIL_DISMISSED)
        calls.call(_SERVICE, "Notify", "susssasa{sv}i", *body)
