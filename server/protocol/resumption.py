"""What a session keeps so that a new connection can go on where a lost one ended. Pure.

Each side counts what it got of the other: the server the client's events, the client the server's frames. A client that
comes back says how many frames it heard and is sent those after them; it is told how many of its events were taken and
sends those after them. So nothing is lost and nothing is there twice.
"""

from __future__ import annotations

import hmac
import secrets
from collections import deque

TOKEN_BYTES = 32


class Claim:
    """Who may take a session over: whoever knows its token and shows the same key as before."""

    def __init__(self, session: str, owner: bytes) -> None:
        """``owner``: what the first connection showed as its key."""
        self.token = f"{session}.{secrets.token_urlsafe(TOKEN_BYTES)}"
        self._owner = owner

    def fits(self, token: str, owner: bytes) -> bool:
        """Compared in a time that tells nothing of how much is right."""
        right = hmac.compare_digest(token.encode(), self.token.encode())
        return hmac.compare_digest(owner, self._owner) and right


def session_of(token: str) -> str:
    """The name of the session that a token is for, if it is one."""
    return token.rpartition(".")[0]


class SentFrames:
    """Frames that a client may not have got: kept until it says that it has, or until there are too many."""

    def __init__(self, limit: int) -> None:
        """``limit``: characters that are kept."""
        self._limit = limit
        self._frames: deque[str] = deque()
        self._size = 0
        self.count = 0
        """All frames so far."""

    def add(self, frame: str, *, lasting: bool) -> None:
        """One more frame; of one that the next of its kind replaces only the number is kept."""
        self.count += 1
        self._frames.append(frame if lasting else "")
        self._size += len(self._frames[-1])
        while self._size > self._limit:
            self._drop()

    def heard(self, count: int) -> None:
        """The client has got so many."""
        while self._frames and self.count - len(self._frames) < count:
            self._drop()

    def after(self, count: int) -> list[str] | None:
        """What follows the first ``count`` frames; None when that is not kept, or was never sent."""
        first = self.count - len(self._frames)
        if not first <= count <= self.count:
            return None
        return [frame for index, frame in enumerate(self._frames, first) if index >= count and frame]

    def _drop(self) -> None:
        self._size -= len(self._frames.popleft())
