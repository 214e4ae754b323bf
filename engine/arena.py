"""Memory that leaves the process when it is given back: address space of its own, apart from the allocator's heaps.

A freed tensor of the ordinary allocator often stays in the process; here the pages of a part come when they are first
written and go back to the operating system with ``release``. On a device whose memory can be mapped a part has memory
from ``take`` to ``release``; on others all of it is simply allocated.
"""

from __future__ import annotations

import math
import mmap
import sys

import torch
from torch import Tensor

from sayso.engine.device_memory import DeviceMemory
from sayso.engine.region import Region

_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
"""Linux' MAP_NORESERVE: address space is not counted as memory before it is written."""


class Arena:
    """``parts`` equal parts of ``part_shape`` elements each, as one tensor [parts, *part_shape] in ``values``.

    A part is contiguous and padded to whole pages, so that it can be given back alone. New parts read as zeros.
    """

    def __init__(
        self,
        parts: int,
        part_shape: tuple[int, ...],
        dtype: torch.dtype,
        device: torch.device,
        memory: DeviceMemory | None = None,
    ) -> None:
        """``memory``: the device's, where it can be mapped; then whoever uses a part takes it before."""
        count = math.prod(part_shape)
        self.part_bytes = count * dtype.itemsize
        self._map: mmap.mmap | None = None
        self._region: Region | None = None
        self._stride = self.part_bytes
        if memory is not None:
            self._region = region = Region(parts, self.part_bytes, memory)
            self._stride = region.stride
            self.flat = region.tensor().view(dtype).view(parts, -1)
        elif device.type == "cpu":
            self._stride = -(-self.part_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
            self._map = _map(parts * self._stride)
            self.flat = torch.frombuffer(self._map, dtype=dtype).view(parts, self._stride // dtype.itemsize)
        else:
            self.flat = torch.zeros((parts, count), dtype=dtype, device=device)
        """Each part with its padding, [parts, elements]."""
        self.values = self.flat[:, :count].unflatten(1, part_shape)

    @property
    def taken_bytes(self) -> int | None:
        """What a part that is in use takes, however much of it is written; None where only what is written counts."""
        return self._stride if self._region is not None else None

    @property
    def mapped_bytes(self) -> int:
        """Memory of the device that is not torch's."""
        return self._region.nbytes if self._region is not None else 0

    def take(self, part: int) -> None:
        """A part is to be used, and reads as zeros; raises EngineError ``session_limit`` without memory for it."""
        if self._region is not None:
            self._region.take(part)
            self.flat[part].zero_()

    def release(self, part: int, count: int = 1) -> None:
        """Give the pages of a part, or of ``count`` neighbours, back; they read as zeros when they are used again."""
        if self._region is not None:
            for each in range(part, part + count):
                self._region.release(each)
        elif self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, part * self._stride, count * self._stride)
        else:
            self.values[part : part + count].zero_()

    def cover(self, parts: int) -> None:
        """The first so many parts are going to be written, even those that nobody has taken."""
        if self._region is not None:
            self._region.cover(parts)


def _map(nbytes: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, nbytes)
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def as_tensor(values: list[int] | list[float], dtype: torch.dtype, device: torch.device) -> Tensor:
    """A small host list on the device, without waiting for the device."""
    host = torch.tensor(values, dtype=dtype)
    return host if device.type == "cpu" else host.pin_memory().to(device, non_blocking=True)
