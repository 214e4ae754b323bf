"""What a dialect is: a pure encoder and decoder between one family of clients and the turn engine's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sayso.server.protocol.events import ServerEvent
from sayso.server.protocol.intents import Happening, Intent


class Dialect(Protocol):
    """One connection's dialect: it keeps what its client asked for, and nothing of the turn."""

    def created(self, created_s: int) -> ServerEvent:
        """The first event of a connection, at this time in seconds since the epoch."""
        ...

    def decode(self, text: str) -> Intent:
        """One text frame as an intent; raises ``ProtocolError`` with the dialect's own code."""
        ...

    def encode(self, happening: Happening) -> Sequence[ServerEvent]:
        """The events that tell the client, none when it did not ask for them."""
        ...
