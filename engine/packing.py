"""Tensors into a parcel and back: they lie one after the other in one mapping of host memory. Loop thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sayso.engine.parcel import Parcel, room

_ALIGN = 64


@dataclass(frozen=True)
class Packed:
    """What lies in a parcel's buffer, in order, and what its packer must know beside it."""

    parts: tuple[tuple[torch.dtype, tuple[int, ...]], ...]
    label: object


def pack(parts: Sequence[Tensor], label: object) -> Parcel:
    """Copy tensors of any device to host memory."""
    packed = Packed(tuple((part.dtype, tuple(part.shape)) for part in parts), label)
    parcel = Parcel(room(max(_ALIGN, sum(_aligned(part.nbytes) for part in parts))), packed)
    for view, part in zip(_views(parcel), parts, strict=True):
        view.copy_(part)
    return parcel


def label_of(parcel: Parcel) -> object:
    """What the packer said."""
    assert isinstance(parcel.contents, Packed)
    return parcel.contents.label


def unpack(parcel: Parcel, places: Sequence[Tensor]) -> None:
    """Copy what was packed into these tensors, which have the shapes of those packed."""
    for place, part in zip(places, _views(parcel), strict=True):
        place.copy_(part)


def _views(parcel: Parcel) -> Iterator[Tensor]:
    assert isinstance(parcel.contents, Packed)
    offset = 0
    for dtype, shape in parcel.contents.parts:
        count = math.prod(shape)
        yield torch.frombuffer(parcel.buffer, dtype=dtype, count=count, offset=offset).view(shape)
        offset += _aligned(count * dtype.itemsize)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // _ALIGN) * _ALIGN
