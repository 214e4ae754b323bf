"""``DeviceMemory`` made of the CPU's: addresses without memory cannot be touched, as on a device. Linux.

Whoever reads or writes a part without memory ends the process with a fault, so a test that passes has touched none.
"""

from __future__ import annotations

import ctypes
import mmap
import os

import torch
from torch import Tensor

from sayso.engine.errors import EngineError

_NOTHING, _READ_WRITE = 0, mmap.PROT_READ | mmap.PROT_WRITE
_SHARED, _PRIVATE, _FIXED, _ANONYMOUS, _NO_RESERVE = 1, 2, 0x10, 0x20, 0x4000
_FAILED = ctypes.c_void_p(-1).value


class HostMemory:
    """``most_bytes``: what there is of it."""

    granule = mmap.PAGESIZE

    def __init__(self, most_bytes: int = 1 << 40) -> None:
        self.most_bytes = most_bytes
        self.created: dict[int, int] = {}
        """Sizes of what was created and not destroyed."""
        self.mapped: dict[int, int] = {}
        """Sizes of what is mapped, by address."""
        self.reserved: dict[int, int] = {}
        libc = ctypes.CDLL(None, use_errno=True)
        self._mmap, self._munmap = libc.mmap, libc.munmap
        self._mmap.restype = ctypes.c_void_p
        self._mmap.argtypes = (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_long,
        )
        self._munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)

    @property
    def nbytes(self) -> int:
        return sum(self.created.values())

    def reserve(self, nbytes: int) -> int:
        address = self._place(0, nbytes, _NOTHING, _PRIVATE | _ANONYMOUS | _NO_RESERVE, -1)
        self.reserved[address] = nbytes
        return address

    def unreserve(self, address: int, nbytes: int) -> None:
        assert self.reserved.pop(address) == nbytes
        assert not any(address <= at < address + nbytes for at in self.mapped)
        assert self._munmap(address, nbytes) == 0

    def create(self, nbytes: int) -> int:
        assert nbytes % self.granule == 0
        if self.nbytes + nbytes > self.most_bytes:
            raise EngineError("session_limit", "There is no memory left.")
        handle = os.memfd_create("device")
        os.ftruncate(handle, nbytes)
        self.created[handle] = nbytes
        # What is given out again holds whatever its last owner left there.
        os.pwrite(handle, b"\xff" * nbytes, 0)
        return handle

    def destroy(self, handle: int) -> None:
        del self.created[handle]
        os.close(handle)

    def map(self, address: int, nbytes: int, handle: int) -> None:
        assert nbytes <= self.created[handle]
        assert not any(address < at + size and at < address + nbytes for at, size in self.mapped.items())
        self._place(address, nbytes, _READ_WRITE, _SHARED | _FIXED, handle)
        self.mapped[address] = nbytes

    def unmap(self, address: int, nbytes: int) -> None:
        assert self.mapped.pop(address) == nbytes
        self._place(address, nbytes, _NOTHING, _PRIVATE | _ANONYMOUS | _NO_RESERVE | _FIXED, -1)

    def tensor(self, address: int, nbytes: int, owner: object) -> Tensor:
        buffer = (ctypes.c_ubyte * nbytes).from_address(address)
        buffer.owner = owner  # type: ignore[attr-defined]
        return torch.frombuffer(buffer, dtype=torch.uint8)

    def _place(self, address: int, nbytes: int, protection: int, flags: int, handle: int) -> int:
        at = self._mmap(address or None, nbytes, protection, flags, handle, 0)
        assert at is not None
        assert at != _FAILED, os.strerror(ctypes.get_errno())
        return at
