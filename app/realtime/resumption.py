"""How a lost connection to a Sayso server is taken up again: its token, and how much of the session was heard. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sayso.server.protocol.events import HeardFrames, Resumable

_TELL_EVERY = 64
"""Frames; the server keeps those that it was not told of."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a new connection shows."""

    token: str
    heard: int

    @property
    def wish(self) -> dict[str, Any]:
        """The fields of ``SaysoOptions`` that say it."""
        return {"resume": self.token, "heard": self.heard}


class Resumption:
    """One session of a server, over as many connections as it takes."""

    def __init__(self) -> None:
        self._url = ""
        self._token = ""
        self._heard = self._told = 0

    def offered(self, url: str, offer: Resumable) -> None:
        """The server at ``url`` keeps this session for us; frames count from here."""
        self._url, self._token = url, offer.token
        self._heard = self._told = 0

    def heard(self) -> None:
        """A frame of the session came."""
        self._heard += bool(self._token)

    def ticket(self, url: str) -> Ticket | None:
        """For a connection to this address."""
        return Ticket(self._token, self._heard) if self._token and url == self._url else None

    @property
    def is_possible(self) -> bool:
        return bool(self._token)

    def forget(self) -> None:
        """The session is over."""
        self._token = ""

    def next_message(self) -> HeardFrames | None:
        """What the server is to be told now."""
        if not self._token or self._heard - self._told < _TELL_EVERY:
            return None
        self._told = self._heard
        return HeardFrames(self._heard)
