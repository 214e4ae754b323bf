"""Equal parts of a device's memory whose addresses never change, and of which only those in use take memory.

A recorded step touches the first so many parts, in use or not. So before it runs, those in between that nobody has are
``cover``ed: all of them show the same small piece of memory, which holds whatever the last step wrote and which
nobody reads. Loop thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from sayso.engine.device_memory import DeviceMemory

_COMMON_BYTES = 32 << 20


class Region:
    """``parts`` of at least ``part_bytes`` each. Ends, and gives all back, with the last tensor that shows it."""

    def __init__(self, parts: int, part_bytes: int, memory: DeviceMemory, common_bytes: int = _COMMON_BYTES) -> None:
        """``common_bytes``: how large the piece is that covers parts; a smaller one is mapped more often."""
        self._memory = memory
        self.stride = _rounded(part_bytes, memory.granule)
        """Bytes from one part to the next: what a part takes."""
        self._size = parts * self.stride
        self._own: dict[int, int] = {}
        """The memory of each part that is in use."""
        self._covered: set[int] = set()
        self._common: int | None = None
        self._common_bytes = min(self.stride, _rounded(common_bytes, memory.granule))
        self._address = memory.reserve(self._size)

    @property
    def nbytes(self) -> int:
        """Memory that the device holds for this now."""
        return len(self._own) * self.stride + (self._common_bytes if self._common is not None else 0)

    def tensor(self) -> Tensor:
        """All parts as bytes [parts * stride], most of them without memory."""
        self.cover(1)
        try:
            return self._memory.tensor(self._address, self._size, self)
        finally:
            self._uncover()

    def take(self, part: int) -> None:
        """Memory for a part, with whatever is in it; raises EngineError ``session_limit`` and changes nothing."""
        if part in self._own:
            return
        handle = self._memory.create(self.stride)
        if part in self._covered:
            self._hide_common(part)
        self._memory.map(self._at(part), self.stride, handle)
        self._own[part] = handle

    def release(self, part: int) -> None:
        """Give the memory of a part back."""
        handle = self._own.pop(part, None)
        if handle is None:
            return
        self._memory.unmap(self._at(part), self.stride)
        self._memory.destroy(handle)
        if not self._own:
            self._uncover()

    def cover(self, parts: int) -> None:
        """Let the first so many parts be written by a step, whether anybody has them or not."""
        for part in range(parts):
            if part not in self._own and part not in self._covered:
                self._show_common(part)

    def _show_common(self, part: int) -> None:
        if self._common is None:
            self._common = self._memory.create(self._common_bytes)
        self._covered.add(part)
        for address, nbytes in self._pieces(part):
            self._memory.map(address, nbytes, self._common)

    def _hide_common(self, part: int) -> None:
        self._covered.remove(part)
        for address, nbytes in self._pieces(part):
            self._memory.unmap(address, nbytes)

    def _pieces(self, part: int) -> Iterator[tuple[int, int]]:
        """Addresses and sizes that the common memory fills a part with."""
        for at in range(0, self.stride, self._common_bytes):
            yield self._at(part) + at, min(self._common_bytes, self.stride - at)

    def _uncover(self) -> None:
        for part in list(self._covered):
            self._hide_common(part)
        if self._common is not None:
            self._memory.destroy(self._common)
            self._common = None

    def _at(self, part: int) -> int:
        return self._address + part * self.stride

    def __del__(self) -> None:
        if not hasattr(self, "_address"):
            return
        for part in list(self._own):
            self.release(part)
        self._uncover()
        self._memory.unreserve(self._address, self._size)


def _rounded(nbytes: int, granule: int) -> int:
    return -(-nbytes // granule) * granule
