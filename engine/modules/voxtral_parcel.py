"""A Voxtral session's place in the model as a parcel, and back: its rings' used part and its tails. Loop thread."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from sayso.engine.modules.voxtral_realtime import Seat, VoxtralRealtime
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION
from sayso.engine.parcel import Parcel

_ALIGN = 64


@dataclass(frozen=True)
class Contents:
    """The seat's counters and what lies in the buffer, in order."""

    delay: int
    origin: int
    encoded: int
    decoded: int
    parts: tuple[tuple[torch.dtype, tuple[int, ...]], ...]


def pack(model: VoxtralRealtime, seat: Seat) -> Parcel:
    """Copy what the seat holds to host memory, and leave it."""
    parts = [part.detach() for part in _held(model, seat)]
    contents = Contents(
        seat.delay, seat.origin, seat.encoded, seat.decoded, tuple((part.dtype, tuple(part.shape)) for part in parts)
    )
    buffer = mmap.mmap(-1, sum(_room(part.nbytes) for part in parts))
    for copy, part in zip(_views(buffer, contents), parts, strict=True):
        copy.copy_(part)
    model.leave(seat)
    return Parcel(buffer, contents)


def unpack(model: VoxtralRealtime, parcel: Parcel) -> Seat:
    """A seat that goes on where the packed one was; raises EngineError ``session_limit`` when none is free."""
    contents = parcel.contents
    assert isinstance(contents, Contents)
    seat = model.sit_at(contents.delay, contents.origin)
    seat.encoded, seat.decoded = contents.encoded, contents.decoded
    for place, part in zip(_held(model, seat), _views(parcel.buffer, contents), strict=True):
        place.copy_(part)
    return seat


def _held(model: VoxtralRealtime, seat: Seat) -> list[Tensor]:
    """Views of all that belongs to a seat."""
    slot = seat.slot
    encoded = FRAMES_PER_POSITION * (seat.encoded - seat.origin)
    return [
        *model.encoder_rings.used(slot, encoded),
        *model.decoder_rings.used(slot, seat.decoded - seat.origin),
        model.mel_tails[slot],
        model.conv_tails[slot],
    ]


def _views(buffer: mmap.mmap, contents: Contents) -> Iterator[Tensor]:
    offset = 0
    for dtype, shape in contents.parts:
        count = math.prod(shape)
        yield torch.frombuffer(buffer, dtype=dtype, count=count, offset=offset).view(shape)
        offset += _room(count * dtype.itemsize)


def _room(nbytes: int) -> int:
    return -(-nbytes // _ALIGN) * _ALIGN
