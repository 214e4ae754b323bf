"""Gives memory that was freed back to the operating system; by itself the C library does so only at the heap's end."""

from __future__ import annotations

import ctypes
import linecache
import sys

GONE_MS = 100
"""After which a window that was left is gone."""


def give_back() -> None:
    """Takes about a millisecond; does nothing where the C library has no way to do it."""
    # PySide6 reads the source of every module that is imported after it, and nobody needs the lines again.
    linecache.clearcache()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
