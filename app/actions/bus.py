"""Calls over D-Bus, each over a connection of its own that is closed again. One worker thread at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import (
    AuthenticationError,
    DBusAddress,
    DBusErrorResponse,
    MatchRule,
    Message,
    Properties,
    message_bus,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError

SYSTEM = "unix:path=/run/dbus/system_bus_socket"
"""Where the system's bus is unless DBUS_SYSTEM_BUS_ADDRESS tells otherwise."""
_CALL_S = 5.0
_EFFECT_S = 1.5
"""How long a service may take to do what it was asked."""
_ABSENT = ("ServiceUnknown", "NameHasNoOwner", "UnknownObject", "UnknownMethod", "UnknownInterface", "UnknownProperty")
_FORBIDDEN = ("AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired", "NotAuthorized")


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls on one open connection."""

    connection: DBusConnection
    wait_s: float = _CALL_S
    """How long each answer is waited for."""

    def call(self, service: DBusAddress, method: str, signature: str | None = None, *body: Any) -> tuple[Any, ...]:
        """The values that a method returns; ActionError “service_absent”, “not_allowed” or “service_refused”."""
        return self._send(new_method_call(service, method, signature, body))

    def property(self, service: DBusAddress, name: str) -> Any:
        """A property's value."""
        return self._send(Properties(service).get(name))[0][1]

    def services(self) -> list[str]:
        """Names of all services on the bus."""
        return [name for name in self._send(message_bus.ListNames())[0] if not name.startswith(":")]

    def signals(self, rule: MatchRule) -> deque[Message]:
        """Where the signals of a rule will be from now on; they come while something else is received."""
        self._send(message_bus.AddMatch(rule))
        found: deque[Message] = deque()
        self.connection.filter(rule, queue=found)
        return found

    def _send(self, message: Any) -> tuple[Any, ...]:
        try:
            return tuple(unwrap_msg(self.connection.send_and_get_reply(message, timeout=self.wait_s)))
        except DBusErrorResponse as error:
            raise _refused(error) from error
        except TimeoutError as error:
            raise ActionError("service_silent", f"No answer came within {self.wait_s:g} seconds. Try again.") from error
        except (OSError, EOFError) as error:
            raise ActionError("bus_lost", "The connection to D-Bus was lost. Try again.") from error


class Bus:
    """A bus by its address; an empty one is a session without it."""

    def __init__(self, address: str) -> None:
        self._address = address

    @contextlib.contextmanager
    def open(self, wait_s: float = _CALL_S) -> Iterator[Calls]:
        """A connection for calls that wait so long for their answers; ActionError “no_bus” where there is none."""
        try:
            connection = open_dbus_connection(self._address or "unix:")
        except (OSError, RuntimeError, ValueError, KeyError, StopIteration, AuthenticationError) as error:
            raise ActionError(
                "no_bus", "D-Bus, over which programs talk to each other, cannot be reached in this session."
            ) from error
        try:
            yield Calls(connection, wait_s)
        finally:
            connection.close()


def comes_true(holds: Callable[[], bool], halt: threading.Event) -> bool:
    """Whether what a service was asked for comes about in the time that it may take."""
    until = time.monotonic() + _EFFECT_S
    while not holds():
        check(halt)
        if time.monotonic() > until:
            return False
        halt.wait(0.03)
    return True


def _refused(error: DBusErrorResponse) -> ActionError:
    name = str(error.name)
    if name.endswith(_ABSENT):
        return ActionError("service_absent", "The service that does this is not running in this session.")
    if name.endswith(_FORBIDDEN):
        return ActionError("not_allowed", "The system does not allow this user to do that.")
    return ActionError("service_refused", f"The service refused it ({name.rpartition('.')[2]}).")
