"""Reader of CTranslate2's ``model.bin``: names, shapes and raw values of every variable, memory-mapped.

The format (binary version 6): a header with the specification's name, then one record for each variable (name, rank,
shape, data type, byte count, values), then aliases that give a second name to a variable. Little endian throughout.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sayso.engine.errors import EngineError

_VERSION = 6
_BFLOAT16 = 5
_TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16, _BFLOAT16: np.uint16}


@dataclass(frozen=True)
class Variables:
    """The variables of one file; ``specification`` is the model family, such as ``WhisperSpec``."""

    specification: str
    values: dict[str, np.ndarray]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def scalar(self, name: str) -> int:
        return int(self.values[name].reshape(-1)[0])

    def float32(self, name: str) -> np.ndarray:
        """A variable as a new float32 array; int8 and int16 weights are multiplied out by their scales."""
        value = self.values[name]
        if value.dtype == np.uint16:
            return (value.astype(np.uint32) << 16).view(np.float32)
        if value.dtype in (np.int8, np.int16) and f"{name}_scale" in self.values:
            scale = self.values[f"{name}_scale"].astype(np.float32)
            return value.astype(np.float32) / scale.reshape(scale.shape + (1,) * (value.ndim - scale.ndim))
        return value.astype(np.float32)


class _Mapped:
    """The bytes of files one after the other. What lies in one file is a view; what crosses into the next is a copy."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._pieces: list[tuple[int, mmap.mmap]] = []
        self._size = 0
        for path in paths:
            if not path.stat().st_size:
                raise EngineError("model_truncated", f"{path} is empty. Download or install the model again.")
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._pieces.append((self._size, data))
            self._size += len(data)

    def __len__(self) -> int:
        return self._size

    def span(self, start: int, size: int) -> memoryview | bytes:
        parts = [
            memoryview(data)[max(0, start - first) : start + size - first]
            for first, data in self._pieces
            if first < start + size and start < first + len(data)
        ]
        return parts[0] if len(parts) == 1 else b"".join(parts)


class _Cursor:
    """Reads fields one after the other and says "cut off" instead of running over the end."""

    def __init__(self, path: Path, data: _Mapped) -> None:
        self._path, self._data, self._at = path, data, 0

    def take(self, size: int) -> int:
        start, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise EngineError(
                "model_truncated",
                f"{self._path} is cut off: it ends after {len(self._data)} bytes. Download or install the model again.",
            )
        return start

    def number(self, layout: str) -> int:
        size = struct.calcsize(f"<{layout}")
        return int(struct.unpack(f"<{layout}", self._data.span(self.take(size), size))[0])

    def string(self) -> str:
        size = self.number("H")
        return bytes(self._data.span(self.take(size), size)).rstrip(b"\0").decode("utf-8", "replace")

    def array(self) -> np.ndarray:
        shape = tuple(self.number("I") for _ in range(self.number("B")))
        kind, size = self.number("B"), self.number("I")
        if kind not in _TYPES:
            raise EngineError("model_unsupported", f"{self._path} holds a data type (number {kind}) that is not known.")
        dtype = np.dtype(_TYPES[kind])
        values = np.frombuffer(self._data.span(self.take(size), size), dtype, size // dtype.itemsize)
        if values.size != int(np.prod(shape, dtype=np.int64)):
            raise EngineError("model_damaged", f"{self._path} is damaged: a variable does not fill its shape.")
        return values.reshape(shape)


def read(*paths: Path) -> Variables:
    """Read a ``model.bin``, or the files it was cut into, in order; the arrays are read-only views of what is mapped.

    Raises EngineError ``model_truncated``, ``model_damaged`` or ``model_unsupported``.
    """
    path = paths[0]
    if path.stat().st_size < 16:
        raise EngineError("model_truncated", f"{path} is empty. Download or install the model again.")
    cursor = _Cursor(path, _Mapped(paths))
    version = cursor.number("I")
    if version != _VERSION:
        raise EngineError(
            "model_unsupported",
            f"{path} is no CTranslate2 model of binary version {_VERSION}, but {version}. Convert the model again.",
        )
    specification = cursor.string()
    cursor.number("I")
    values: dict[str, np.ndarray] = {}
    for _ in range(cursor.number("I")):
        name = cursor.string()
        values[name] = cursor.array()
    for _ in range(cursor.number("I")):
        alias = cursor.string()
        values[alias] = values[cursor.string()]
    return Variables(specification, values)
