"""A Voxtral session's place in the model as a parcel, and back: its rings' used part and its tails. Loop thread."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from sayso.engine import packing
from sayso.engine.modules.voxtral_realtime import Seat, VoxtralRealtime
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION
from sayso.engine.parcel import Parcel


def pack(model: VoxtralRealtime, seat: Seat) -> Parcel:
    """Copy what the seat holds to host memory, and leave it."""
    parcel = packing.pack(_held(model, seat), replace(seat))
    model.leave(seat)
    return parcel


def unpack(model: VoxtralRealtime, parcel: Parcel) -> Seat:
    """A seat that goes on where the packed one was; raises EngineError ``session_limit`` when none is free."""
    before = packing.label_of(parcel)
    assert isinstance(before, Seat)
    seat = model.empty_seat(before.delay, before.origin)
    seat.encoded, seat.decoded = before.encoded, before.decoded
    try:
        packing.unpack(parcel, _held(model, seat))
    except BaseException:
        model.leave(seat)
        raise
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
