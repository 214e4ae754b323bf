"""When the computer goes to sleep and comes back, as logind tells it over the system's D-Bus. Event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

from jeepney import AuthenticationError, HeaderFields, MatchRule, MessageType, message_bus
from jeepney.io.asyncio import open_dbus_connection

log = logging.getLogger(__name__)

_CONNECT_S = 10.0
_SERVICE, _MEMBER = "org.freedesktop.login1", "PrepareForSleep"
_RULE = MatchRule(
    type="signal", sender=_SERVICE, interface=f"{_SERVICE}.Manager", member=_MEMBER, path="/org/freedesktop/login1"
)


async def suspends(address: str) -> AsyncGenerator[bool, None]:
    """True before each suspend and False after it; ends where there is no such bus, or no more."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            connection = await open_dbus_connection(address)
            await connection.send(message_bus.AddMatch(_RULE))
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, StopIteration, AuthenticationError) as error:
        log.info("suspends are told by the clock alone: no system bus (%s)", type(error).__name__)
        return
    try:
        while True:
            message = await connection.receive()
            member = message.header.fields.get(HeaderFields.member)
            if message.header.message_type is MessageType.signal and member == _MEMBER and message.body:
                yield bool(message.body[0])
    except (OSError, EOFError):
        log.info("suspends are told by the clock alone: the system bus is gone")
    finally:
        connection.writer.close()
