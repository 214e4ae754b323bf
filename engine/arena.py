"""Memory that leaves the process when it is given back: address space of its own, apart from the allocator's heaps.

A freed tensor of the ordinary allocator often stays in the process; here the pages of a part come when they are first
written and go back to the operating system with ``release``. On a device of its own the memory is simply allocated.
"""

from __future__ import annotations

import math
import mmap
import sys

import torch
from torch import Tensor

_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
"""Linux' MAP_NORESERVE: address space is not counted as memory before it is written."""


class Arena:
    """``parts`` equal parts of ``part_shape`` elements each, as one tensor [parts, *part_shape] in ``values``.

    A part is contiguous and padded to whole pages, so that it can be given back alone. New parts read as zeros.
    """

    def __init__(self, parts: int, part_shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        count = math.prod(part_shape)
        self.part_bytes = count * dtype.itemsize
        self._map: mmap.mmap | None = None
        if device.type != "cpu":
            self.values = torch.zeros((parts, *part_shape), dtype=dtype, device=device)
            return
        self._stride = -(-self.part_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
        self._map = _map(parts * self._stride)
        self.flat = torch.frombuffer(self._map, dtype=dtype).view(parts, self._stride // dtype.itemsize)
        """On the CPU: each part with its padding, [parts, elements]."""
        self.values = self.flat[:, :count].unflatten(1, part_shape)

    def release(self, part: int, count: int = 1) -> None:
        """Give the pages of a part, or of ``count`` neighbours, back; they read as zeros afterwards."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, part * self._stride, count * self._stride)
        else:
            self.values[part : part + count].zero_()


def _map(nbytes: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, nbytes)
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def as_tensor(values: list[int] | list[float], dtype: torch.dtype, device: torch.device) -> Tensor:
    """A small host list on the device, without waiting for the device."""
    host = torch.tensor(values, dtype=dtype)
    return host if device.type == "cpu" else host.pin_memory().to(device, non_blocking=True)
