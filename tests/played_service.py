"""A D-Bus service that tests play: it owns a name on a private bus and answers calls. One thread for each.

What the parts under test talk to is a real bus and real messages; only the program at the other end is played.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

from bounded import child, read_line
from jeepney import HeaderFields, Message, MessageType, message_bus, new_error, new_method_return
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_PROPERTIES = "org.freedesktop.DBus.Properties"
_BUS = """\
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""
Answer = tuple[str, tuple[Any, ...]]
"""The signature and the values that a method returns."""


@dataclass
class PlayedService:
    """What a service knows and was asked. ``on_call`` may change ``properties`` and answer, or return None for nothing.

    ``properties`` are by interface and name, each with its signature.
    """

    properties: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    on_call: Callable[[str, tuple[Any, ...]], Answer | None] = lambda method, body: None
    refuses: dict[str, str] = field(default_factory=dict)
    """Methods that fail, with the error's name."""
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    signals: queue.SimpleQueue[Message] = field(default_factory=queue.SimpleQueue)
    """Signals to send, in this order; put in by any thread."""
    senders: dict[str, str] = field(default_factory=dict)
    """Who called each method last, by its name on the bus."""

    def answer(self, message: Message) -> Message:
        fields = message.header.fields
        interface, method = fields.get(HeaderFields.interface), str(fields.get(HeaderFields.member))
        if interface == _PROPERTIES and method == "Get":
            found = self.properties.get((message.body[0], message.body[1]))
            if found is None:
                return new_error(message, "org.freedesktop.DBus.Error.UnknownProperty")
            return new_method_return(message, "v", (found,))
        self.calls.append((method, message.body))
        self.senders[method] = str(fields.get(HeaderFields.sender))
        if method in self.refuses:
            return new_error(message, self.refuses[method])
        answered = self.on_call(method, message.body)
        return new_method_return(message, *answered) if answered else new_method_return(message)

    def called(self, method: str) -> list[tuple[Any, ...]]:
        """What a method was called with, each time."""
        return [body for name, body in self.calls if name == method]


@contextlib.contextmanager
def played(address: str, name: str, service: PlayedService) -> Iterator[PlayedService]:
    """Own ``name`` on the bus at ``address`` and answer for it as long as the block runs."""
    connection = open_dbus_connection(address)
    connection.send_and_get_reply(message_bus.RequestName(name), timeout=10)
    over = threading.Event()
    thread = threading.Thread(target=_serve, args=(connection, service, over), name=name)
    thread.start()
    try:
        yield service
    finally:
        over.set()
        thread.join(10)
        connection.close()


def _serve(connection: DBusConnection, service: PlayedService, over: threading.Event) -> None:
    while not over.is_set():
        while not service.signals.empty():
            connection.send(service.signals.get())
        try:
            message = connection.receive(timeout=0.05)
        except TimeoutError:
            continue
        if message.header.message_type is MessageType.method_call:
            connection.send(service.answer(message))


@contextlib.contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """A bus of its own, by its address; it starts no service of the machine's by itself."""
    configuration = folder / "dbus.conf"
    configuration.write_text(_BUS)
    command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--print-address=1"]
    with child(command, {"PATH": "/usr/bin:/bin"}, folder / "dbus.log", stdout=PIPE) as process:
        assert process.stdout is not None
        yield read_line(process.stdout.fileno(), "the bus's address")
