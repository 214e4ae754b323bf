"""The engine's end of the pipe: a reader thread fills an inbox, the loop takes from it and writes results.

``claim_standard_streams`` keeps the pipe clean: the channel gets a duplicate of file descriptor 1, which then points
to standard error, so that a stray print of any library cannot land between two frames.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from sayso.engine.errors import FramingError
from sayso.engine.framing import Decoder, encode
from sayso.engine.messages import Audio, Message

logger = logging.getLogger(__name__)

READ_BYTES = 256 * 1024
GRACE_S = 0.5
"""How long the loop may take to notice the end of the pipe before the process is ended under it (mid-inference)."""


def claim_standard_streams() -> tuple[int, int]:
    """File descriptors for reading and writing messages; nothing else in the process can reach them by accident."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return read_fd, write_fd


class Channel:
    """Typed messages over two file descriptors."""

    def __init__(self, read_fd: int, write_fd: int, vocabulary: Any, inbox_bytes: int) -> None:
        """``vocabulary`` is the type of the messages that come in; ``inbox_bytes`` bounds those not yet taken."""
        self._read_fd, self._write_fd = read_fd, write_fd
        self._decoder: Decoder[Any] = Decoder(vocabulary)
        self._inbox: deque[Message] = deque()
        self._inbox_bytes = 0
        self._limit = inbox_bytes
        self._changed = threading.Condition()
        self._ended = False
        self._left = threading.Event()
        self._reader = threading.Thread(target=self._read, name="channel-reader", daemon=True)
        self.abandoned: Callable[[], None] = lambda: None
        """Called by the reader thread before it ends the process under a loop that does not notice."""
        self.error: FramingError | None = None
        """Why reading ended, when it was not the end of the pipe."""

    def start(self) -> None:
        """Start the reader thread."""
        self._reader.start()

    def take(self, timeout: float | None) -> list[Message] | None:
        """All messages that came, waiting up to ``timeout`` seconds (None: without end) for the first one.

        An empty list means that the time is over, None that the pipe has ended and every message was taken.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._inbox or self._ended, timeout)
            if not self._inbox and self._ended:
                return None
            messages = list(self._inbox)
            self._inbox.clear()
            self._inbox_bytes = 0
            self._changed.notify_all()
            return messages

    def send(self, messages: list[Message]) -> None:
        """Write messages in order; raises ``BrokenPipeError`` when nobody reads any more."""
        data = memoryview(b"".join(encode(message) for message in messages))
        while data:
            data = data[os.write(self._write_fd, data) :]

    def leave(self) -> None:
        """The loop has ended: the reader need not end the process."""
        self._left.set()

    def join(self, timeout: float) -> bool:
        """Wait until the reader has seen the end of the pipe; only then may its file descriptor be closed."""
        self._reader.join(timeout)
        return not self._reader.is_alive()

    def _read(self) -> None:
        """Reader thread: until the end of the pipe, then make sure that the process ends."""
        try:
            while data := os.read(self._read_fd, READ_BYTES):
                self._deliver(self._decoder.feed(data))
        except FramingError as error:
            self.error = error
        except OSError as error:
            logger.warning("reading the pipe failed: %s", error)
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if self.error is None and not self._left.wait(GRACE_S):
            try:
                self.abandoned()
            finally:
                os._exit(0)

    def _deliver(self, messages: list[Message]) -> None:
        with self._changed:
            for message in messages:
                self._inbox.append(message)
                self._inbox_bytes += len(message.samples) if isinstance(message, Audio) else 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._inbox_bytes < self._limit)
