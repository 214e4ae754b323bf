"""Memory of a CUDA device that is mapped at addresses which were reserved before: CUDA's virtual memory management.

What torch allocates has an address for as long as it has memory. A recorded graph needs addresses that stay, and
sessions that rest should hold no memory: so here the two are taken and given back apart. The driver's library is
called directly; torch has initialised it and made its context current. Loop thread.
"""

from __future__ import annotations

import ctypes
import logging
import sys
from typing import Any, Protocol

import torch
from torch import Tensor

from sayso.engine.errors import EngineError

logger = logging.getLogger(__name__)

_SUCCESS, _OUT_OF_MEMORY = 0, 2
_PINNED, _DEVICE, _READ_WRITE, _MINIMUM = 1, 1, 3, 0
_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


class DeviceMemory(Protocol):
    """All sizes and addresses are multiples of ``granule`` bytes."""

    granule: int

    def reserve(self, nbytes: int) -> int:
        """Addresses without memory: the first of them."""
        ...

    def unreserve(self, address: int, nbytes: int) -> None: ...

    def create(self, nbytes: int) -> int:
        """Memory without an address; raises EngineError ``session_limit`` when the device has no more."""
        ...

    def destroy(self, handle: int) -> None: ...

    def map(self, address: int, nbytes: int, handle: int) -> None:
        """Let the first ``nbytes`` of some memory be seen at this address too."""
        ...

    def unmap(self, address: int, nbytes: int) -> None:
        """End what one ``map`` began, once the device has done all it was told to do."""
        ...

    def tensor(self, address: int, nbytes: int, owner: object) -> Tensor:
        """Bytes as a tensor that keeps ``owner``; something must be mapped at the address."""
        ...


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("security", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class _Span:
    """What torch is shown of an address range."""

    def __init__(self, address: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 2,
        }


class CudaMemory:
    """``DeviceMemory`` of one CUDA device. Raises OSError where there is no driver's library."""

    def __init__(self, device: torch.device) -> None:
        torch.cuda.init()
        self._device = torch.device("cuda", device.index if device.index is not None else torch.cuda.current_device())
        self._library = ctypes.CDLL(_LIBRARY)
        location = _Location(_DEVICE, self._device.index)
        self._properties = _Properties(_PINNED, 0, location, None)
        self._access = _Access(location, _READ_WRITE)
        granule = ctypes.c_size_t()
        self._call("cuMemGetAllocationGranularity", ctypes.byref(granule), ctypes.byref(self._properties), _MINIMUM)
        self.granule = granule.value

    def reserve(self, nbytes: int) -> int:
        address = ctypes.c_uint64()
        self._call("cuMemAddressReserve", ctypes.byref(address), _size(nbytes), _size(0), _word(0), _word(0))
        return address.value

    def unreserve(self, address: int, nbytes: int) -> None:
        self._call("cuMemAddressFree", _word(address), _size(nbytes))

    def create(self, nbytes: int) -> int:
        if (handle := self._create(nbytes)) is None:
            # What torch keeps for itself may be enough.
            torch.cuda.empty_cache()
            handle = self._create(nbytes)
        if handle is None:
            raise EngineError("session_limit", "The device has no memory left for another session: try again later.")
        return handle

    def _create(self, nbytes: int) -> int | None:
        handle = ctypes.c_uint64()
        code = self._library.cuMemCreate(ctypes.byref(handle), _size(nbytes), ctypes.byref(self._properties), _word(0))
        if code == _OUT_OF_MEMORY:
            return None
        _check("cuMemCreate", code)
        return handle.value

    def destroy(self, handle: int) -> None:
        self._call("cuMemRelease", _word(handle))

    def map(self, address: int, nbytes: int, handle: int) -> None:
        self._call("cuMemMap", _word(address), _size(nbytes), _size(0), _word(handle), _word(0))
        self._call("cuMemSetAccess", _word(address), _size(nbytes), ctypes.byref(self._access), _size(1))

    def unmap(self, address: int, nbytes: int) -> None:
        torch.cuda.synchronize(self._device)
        self._call("cuMemUnmap", _word(address), _size(nbytes))

    def tensor(self, address: int, nbytes: int, owner: object) -> Tensor:
        return torch.as_tensor(_Span(address, nbytes, owner), device=self._device)

    def _call(self, name: str, *arguments: Any) -> None:
        _check(name, getattr(self._library, name)(*arguments))


def device_memory(device: torch.device) -> DeviceMemory | None:
    """Memory of the device that can be mapped, or None where this does not work: then torch allocates."""
    if device.type != "cuda":
        return None
    try:
        memory = CudaMemory(device)
        if _works(memory):
            return memory
        logger.warning("mapped memory of %s does not keep what is written", device)
    except (OSError, AttributeError, RuntimeError, EngineError) as error:
        logger.warning("memory of %s cannot be mapped (%s): sessions that rest keep theirs", device, error)
    return None


def _works(memory: DeviceMemory) -> bool:
    """Write through one address, read through another one, and give all back."""
    size = memory.granule
    address, handle = memory.reserve(2 * size), memory.create(size)
    memory.map(address, size, handle)
    memory.map(address + size, size, handle)
    values = memory.tensor(address, 2 * size, None)
    values[:size] = 7
    same = bool((values[size:] == 7).all())
    del values
    memory.unmap(address, size)
    memory.unmap(address + size, size)
    memory.destroy(handle)
    memory.unreserve(address, 2 * size)
    return same


def _check(name: str, code: int) -> None:
    if code != _SUCCESS:
        raise EngineError("device_memory", f"{name} failed with CUDA's error {code}.")


def _size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def _word(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)
