"""What a server sends, decoded leniently: unknown events are skipped, missing fields are normal. Pure."""

from __future__ import annotations

import base64

import msgspec

from sayso.server.protocol.events import (
    Alternatives,
    Append,
    ClientEvent,
    Delta,
    EngineState,
    Error,
    Marker,
    Partial,
    Resumable,
    Resumed,
    SessionUpdated,
    Words,
)


class Created(msgspec.Struct, frozen=True, tag_field="type", tag="session.created"):
    """``session.created`` as a client must read it: only a Sayso server names itself."""

    id: str = ""
    server: str = ""


class Finished(msgspec.Struct, frozen=True, tag_field="type", tag="transcription.done"):
    """``transcription.done`` without the usage figures, which servers spell differently."""

    text: str = ""


TurnNews = Delta | Finished | Error | Partial | Words | Marker | Alternatives
Received = Created | SessionUpdated | TurnNews | EngineState | Resumable | Resumed

_decoder = msgspec.json.Decoder(Received)
_encoder = msgspec.json.Encoder()


def decode(frame: str | bytes) -> Received | None:
    """One event, or None for what this client does not know."""
    try:
        return _decoder.decode(frame)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def encode(event: ClientEvent) -> str:
    """One event as a text frame."""
    return _encoder.encode(event).decode()


def append(pcm: bytes) -> Append:
    """Audio as the wire carries it: 16-bit little-endian mono PCM, 16 kHz, in base64."""
    return Append(base64.b64encode(pcm).decode("ascii"))
