"""One connection's session in the engine: which messages open, feed, flush, cancel and close it. Pure.

The engine forgets its sessions when it dies, so the link opens one only when there is audio for it, and again under a
new name after a loss: what an older name still says is not heard.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sayso.engine import messages
from sayso.server.protocol import intents
from sayso.server.protocol.audio import BYTES_PER_SAMPLE

PIECE_BYTES = messages.SAMPLE_RATE * BYTES_PER_SAMPLE
"""One second: longer audio goes in pieces, so that no session holds up the pipe for the others."""

Deeper = Literal["host", "disk", "dropped"]
"""Where keys and values can be put on request."""


class EngineLink:
    def __init__(self, connection: str) -> None:
        self._connection = connection
        self._count = 0
        self._open = False
        self._epoch = 0
        self._marker = 0
        self._options = messages.SessionOptions(words=True)
        self.ready = False
        """Whether the engine takes messages now."""

    @property
    def name(self) -> str:
        """The engine's name of the session now, or of the next one to be opened."""
        return f"{self._connection}.{self._count}"

    def configure(self, options: messages.SessionOptions) -> list[messages.Down]:
        if options == self._options:
            return []
        self._options = options
        return [messages.Configure(self.name, options)] if self._open else []

    def audio(self, pcm: bytes) -> Iterator[messages.Down]:
        """PCM; opens the session first when it must."""
        if not self._open:
            self._open = True
            yield messages.Open(self.name, self._epoch, self._options)
        for start in range(0, len(pcm), PIECE_BYTES):
            yield messages.Audio(self.name, self._epoch, pcm[start : start + PIECE_BYTES])

    def flush(self) -> messages.Down:
        self._marker += 1
        return messages.Flush(self.name, self._epoch, self._marker)

    def cancel(self) -> list[messages.Down]:
        self._epoch += 1
        return [messages.Cancel(self.name, self._epoch)] if self._open else []

    def park(self, tier: Deeper) -> list[messages.Down]:
        """Put the session's keys and values away until its next audio."""
        return [messages.Park(self.name, tier)] if self._open and self.ready else []

    def close(self) -> list[messages.Down]:
        """End the session in the engine; a later one gets a new name."""
        down: list[messages.Down] = [messages.Close(self.name)] if self._open else []
        self.forget()
        return down

    def forget(self) -> None:
        """The session is gone without our doing."""
        if self._open:
            self._count += 1
        self._open = False

    def hears(self, message: messages.Up) -> bool:
        """Whether the message is about the open session and not older than the last cancel."""
        if not self._open or getattr(message, "session", None) != self.name:
            return False
        return getattr(message, "epoch", self._epoch) == self._epoch

    def awaits(self, marker: int) -> bool:
        return marker == self._marker


def session_options(choice: intents.Choose) -> messages.SessionOptions:
    """What the engine is told of a client's choice. Word times are always asked for: a replay begins by them."""
    asked = set(choice.sayso.events) if choice.sayso else set()
    return messages.SessionOptions(
        language=choice.language,
        prompt=choice.prompt,
        bias=choice.sayso.bias if choice.sayso else (),
        partials="partial" in asked,
        words=True,
        speech="speech" in asked,
        delay_ms=choice.sayso.delay_ms if choice.sayso else 0,
        alternatives="alternatives" in asked,
        expected=choice.sayso.expected if choice.sayso else (),
    )
