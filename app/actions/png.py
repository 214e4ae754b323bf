"""Pictures as PNG files. Pure. Source: W3C Portable Network Graphics (PNG) Specification, Third Edition."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BIT_RGB = bytes((8, 2, 0, 0, 0))
"""Depth 8, colour type RGB, and the only methods there are."""


def encode(pixels: np.ndarray) -> bytes:
    """A file from pixels of shape (height, width, 3), uint8, red first."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # Each row begins with its filter: 0, none.
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">II", width, height) + _EIGHT_BIT_RGB
    return b"".join(
        (_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows.tobytes())), _chunk(b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
