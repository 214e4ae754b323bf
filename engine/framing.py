"""Messages to bytes and back: each one is its length (four bytes, little endian), then msgpack.

Pure: no pipe, no thread, no torch. Both ends of the pipe between the server and the engine use it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from sayso.engine.errors import FramingError
from sayso.engine.messages import Message

HEADER_BYTES = 4
MAX_FRAME_BYTES = 64 * 1024 * 1024
"""A longer frame is taken for garbage; the longest real one is a few seconds of audio."""

T = TypeVar("T", bound=Message)

_encoder = msgspec.msgpack.Encoder()


def encode(message: Message) -> bytes:
    """The frame of one message; raises ``FramingError`` when it is longer than ``MAX_FRAME_BYTES``."""
    frame = bytearray(HEADER_BYTES)
    _encoder.encode_into(message, frame, HEADER_BYTES)
    size = len(frame) - HEADER_BYTES
    if size > MAX_FRAME_BYTES:
        raise FramingError("frame_too_long", f"A message of {size} bytes is over the limit of {MAX_FRAME_BYTES}.")
    frame[:HEADER_BYTES] = size.to_bytes(HEADER_BYTES, "little")
    return bytes(frame)


class Decoder(Generic[T]):
    """Collects bytes in any pieces and gives back whole messages of one vocabulary (``Up`` or ``Down``).

    After an error the decoder stays broken: a stream that lost its frame borders cannot be trusted again.
    """

    def __init__(self, vocabulary: Any) -> None:
        """``vocabulary`` is the type that the messages must have: ``messages.Up`` or ``messages.Down``."""
        self._decoder = msgspec.msgpack.Decoder(vocabulary)
        self._buffer = bytearray()
        self._error: FramingError | None = None

    @property
    def pending_bytes(self) -> int:
        """Bytes of a message that is not whole yet; more than 0 at the end of a stream means it was cut."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[T]:
        """The messages that became whole with ``data``, in order.

        Raises ``FramingError`` on garbage; when whole messages came before it, the call after them does.
        """
        messages: list[T] = []
        start = 0
        try:
            if self._error is not None:
                raise self._error
            self._buffer += data
            while (end := self._frame_end(start)) is not None:
                messages.append(self._decode(bytes(self._buffer[start + HEADER_BYTES : end])))
                start = end
        except FramingError:
            if not messages:
                raise
        del self._buffer[:start]
        return messages

    def _frame_end(self, start: int) -> int | None:
        """Where the frame that begins at ``start`` ends, or None when it is not whole yet."""
        if len(self._buffer) - start < HEADER_BYTES:
            return None
        size = int.from_bytes(self._buffer[start : start + HEADER_BYTES], "little")
        if size > MAX_FRAME_BYTES:
            raise self._broken("frame_too_long", f"A frame of {size} bytes is announced: this is not a Sayso pipe.")
        end = start + HEADER_BYTES + size
        return end if end <= len(self._buffer) else None

    def _decode(self, frame: bytes) -> T:
        try:
            return self._decoder.decode(frame)
        except msgspec.DecodeError as error:
            raise self._broken("bad_message", f"A message could not be read: {error}.") from error

    def _broken(self, code: str, message: str) -> FramingError:
        self._error = FramingError(code, message)
        return self._error
