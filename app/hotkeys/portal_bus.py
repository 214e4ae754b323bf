"""The connection to the desktop's portal: calls, requests whose answer comes as a signal, and signals. Event loop."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from jeepney import AuthenticationError, DBusAddress, HeaderFields, Message, MessageType, message_bus, new_method_call
from jeepney.io.asyncio import DBusConnection, open_dbus_connection

from sayso.app.errors import AppError, report_failure

Body = tuple[Any, ...]
_PORTAL = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_REQUEST = "org.freedesktop.portal.Request"
_BUS = "org.freedesktop.DBus"
_CANCELLED = 1
_NOT_ALLOWED = "org.freedesktop.portal.Error.NotAllowed"
"""What portals from 1.21 on answer to a program that has no entry among the applications."""
_RULES = (
    f"type='signal',sender='{_PORTAL}'",
    f"type='signal',sender='{_BUS}',interface='{_BUS}',member='NameOwnerChanged',arg0='{_PORTAL}'",
)


class PortalError(AppError):
    """The portal said no. Codes: portal_refused where it is not there or does not know the call, declined where the
    desktop or its user does not want it, unknown_program where it does not know who asks.
    """


class BusLostError(AppError):
    """Code bus_lost: the session bus cannot be reached, or not any more."""


class PortalBus:
    """``on_signal`` gets interface, name and values of the portal's signals, ``on_lost`` is told when it ends.

    ``on_found`` is told when another one is there, which knows nothing of what the one before was asked.
    """

    def __init__(
        self,
        connection: DBusConnection,
        on_signal: Callable[[str, str, Body], None],
        on_lost: Callable[[], None],
        on_found: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._on_signal = on_signal
        self._on_lost = on_lost
        self._on_found = on_found
        self._serials = itertools.count(10_000)
        self._tokens = itertools.count(1)
        self._replies: dict[int, asyncio.Future[Message]] = {}
        self._answers: dict[str, asyncio.Future[Body]] = {}
        self._reading = asyncio.get_running_loop().create_task(self._read(), name="portal")
        self._reading.add_done_callback(report_failure)

    @classmethod
    async def connect(
        cls,
        address: str,
        on_signal: Callable[[str, str, Body], None],
        on_lost: Callable[[], None],
        on_found: Callable[[], None] = lambda: None,
    ) -> PortalBus:
        """Connect and listen to the portal's signals; BusLostError where there is no bus."""
        try:
            connection = await open_dbus_connection(address or "unix:")
        except (OSError, EOFError, RuntimeError, ValueError, KeyError, StopIteration, AuthenticationError) as error:
            raise BusLostError("bus_lost", "D-Bus cannot be reached in this session.") from error
        bus = cls(connection, on_signal, on_lost, on_found)
        try:
            for rule in _RULES:
                await bus._send(message_bus.AddMatch(rule))
        except BaseException:
            bus.close()
            raise
        return bus

    async def call(self, interface: str, method: str, signature: str, body: Body) -> Body:
        """What a method of the portal returns; PortalError where it refuses."""
        return await self._send(new_method_call(DBusAddress(_PATH, _PORTAL, interface), method, signature, body))

    async def ask(self, interface: str, method: str, signature: str, body: Callable[[], Body]) -> dict[str, Any]:
        """The results of a request: its last argument is options, to which the token of the answer is added."""
        token = f"sayso{next(self._tokens)}"
        sender = str(self._connection.unique_name).removeprefix(":").replace(".", "_")
        path = f"{_PATH}/request/{sender}/{token}"
        answer = self._answers[path] = asyncio.get_running_loop().create_future()
        try:
            *values, options = body()
            await self.call(interface, method, signature, (*values, {**options, "handle_token": ("s", token)}))
            code, results = await answer
        finally:
            self._answers.pop(path, None)
        if code != 0:
            raise PortalError(
                "declined" if code == _CANCELLED else "portal_refused", "The desktop, or you, refused it."
            )
        return dict(results)

    def close(self) -> None:
        """End the connection; whoever waits is told."""
        self._reading.cancel()
        self._fail()
        self._connection.writer.close()

    async def _send(self, message: Message) -> Body:
        serial = next(self._serials)
        reply = self._replies[serial] = asyncio.get_running_loop().create_future()
        try:
            await self._connection.send(message, serial=serial)
            answered = await reply
        except OSError as error:
            raise BusLostError("bus_lost", "The connection to D-Bus was lost.") from error
        finally:
            self._replies.pop(serial, None)
        if answered.header.message_type is MessageType.error:
            name = str(answered.header.fields.get(HeaderFields.error_name))
            raise PortalError("unknown_program" if name == _NOT_ALLOWED else "portal_refused", name)
        return tuple(answered.body)

    async def _read(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                self._take(await self._connection.receive())
        self._fail()
        self._on_lost()

    def _take(self, message: Message) -> None:
        fields = message.header.fields
        if message.header.message_type is MessageType.signal:
            interface, path = str(fields.get(HeaderFields.interface)), str(fields.get(HeaderFields.path))
            answer = self._answers.get(path)
            if interface == _BUS:
                self._take_owner(message)
            elif interface == _REQUEST and answer is not None and not answer.done():
                answer.set_result(tuple(message.body))
            elif interface != _REQUEST:
                self._on_signal(interface, str(fields.get(HeaderFields.member)), tuple(message.body))
            return
        reply = self._replies.get(fields.get(HeaderFields.reply_serial, 0))
        if reply is not None and not reply.done():
            reply.set_result(message)

    def _take_owner(self, message: Message) -> None:
        if message.header.fields.get(HeaderFields.member) != "NameOwnerChanged":
            return
        _, before, now = message.body
        if before:
            self._fail()
            self._on_lost()
        if now:
            self._on_found()

    def _fail(self) -> None:
        for waiting in (*self._replies.values(), *self._answers.values()):
            if not waiting.done():
                waiting.set_exception(BusLostError("bus_lost", "The connection to D-Bus was lost."))
