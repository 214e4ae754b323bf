"""A panel's tray on a private D-Bus session: programs put their icons into it, and their menus are worked over it.

Speaks what panels speak: StatusNotifierWatcher for the icons, com.canonical.dbusmenu for the menus. Its thread answers
programs; the test calls them over a connection of its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bounded import wait_for
from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
    new_method_return,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_WATCHER = "org.kde.StatusNotifierWatcher"
_PROPERTIES = {
    "IsStatusNotifierHostRegistered": ("b", True),
    "ProtocolVersion": ("i", 0),
    "RegisteredStatusNotifierItems": ("as", []),
}
_LOOK_SECONDS = 0.2


@dataclass
class VirtualTray:
    """`items` are the D-Bus names of the icons in the tray."""

    connection: DBusConnection
    items: list[str] = field(default_factory=list)

    def wait_for_icon(self, seconds: float = 60.0) -> None:
        """Return when a program has put its icon into the tray."""
        wait_for(lambda: self.items, "an icon in the tray", seconds)

    def get(self, name: str) -> Any:
        """A property of the icon: `ToolTip`, `IconPixmap`, …"""
        item = DBusAddress("/StatusNotifierItem", self.items[0], "org.kde.StatusNotifierItem")
        return self._call(Properties(item).get(name))[0][1]

    def press(self, label: str) -> None:
        """Choose the entry of the icon's menu that has this label."""
        menu = DBusAddress("/MenuBar", self.items[0], "com.canonical.dbusmenu")
        _, (_, _, entries) = self._call(new_method_call(menu, "GetLayout", "iias", (0, -1, [])))
        labels = {entry[1]["label"][1].replace("_", ""): entry[0] for _, entry in entries if "label" in entry[1]}
        assert label in labels, labels
        self._call(new_method_call(menu, "Event", "isvu", (labels[label], "clicked", ("i", 0), 0)))

    def _call(self, message: Message) -> Any:
        reply = self.connection.send_and_get_reply(message, timeout=10)
        assert reply.header.message_type is MessageType.method_return, reply.body
        return reply.body


@contextlib.contextmanager
def virtual_tray(address: str) -> Iterator[VirtualTray]:
    """A tray on the session bus at this address, for as long as the block runs."""
    ended = threading.Event()
    with open_dbus_connection(address) as answering, open_dbus_connection(address) as asking:
        answering.send_and_get_reply(message_bus.RequestName(_WATCHER), timeout=10)
        tray = VirtualTray(asking)
        thread = threading.Thread(target=_answer, args=(answering, tray, ended), name="tray")
        thread.start()
        try:
            yield tray
        finally:
            ended.set()
            thread.join(10)


def _answer(connection: DBusConnection, tray: VirtualTray, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            message = connection.receive(timeout=_LOOK_SECONDS)
        except TimeoutError:
            continue
        if message.header.message_type is not MessageType.method_call:
            continue
        fields, body = message.header.fields, message.body
        match fields[HeaderFields.member]:
            case "Get":
                reply = new_method_return(message, "v", (_PROPERTIES[body[1]],))
            case "GetAll":
                reply = new_method_return(message, "a{sv}", (_PROPERTIES,))
            case "RegisterStatusNotifierItem":
                name = body[0] if not body[0].startswith("/") else fields[HeaderFields.sender]
                tray.items.append(name)
                reply = new_method_return(message)
            case _:
                reply = new_method_return(message)
        connection.send(reply)
