"""What an unexpected exception says to somebody far away, and whether it means that memory ran out. Pure, no torch."""

from __future__ import annotations

import errno
import re

from sayso.engine.errors import EngineError

MOST_CHARACTERS = 300
_OUT_OF_MEMORY = frozenset({"OutOfMemoryError"})
_PLACES = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "…"),
    (re.compile(r"(?<![\w/])(?:[A-Za-z]:\\|~?/)[^\s'\":;,()]+[/\\][^\s'\":;,()]*"), "…"),
)
"""Addresses in memory and paths of files: a client can do nothing with them, and they tell of the machine."""


def reason(error: BaseException) -> str:
    """One line for a client: our own errors as they are, others without addresses, paths and further lines."""
    if isinstance(error, EngineError):
        return error.message
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    for pattern, instead in _PLACES:
        text = pattern.sub(instead, text)
    name = type(error).__name__
    return f"{name}: {text[:MOST_CHARACTERS]}" if text else name


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, whoever allocated it."""
    if isinstance(error, MemoryError) or type(error).__name__ in _OUT_OF_MEMORY:
        return True
    if getattr(error, "code", "") == "out_of_memory" or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    # PyTorch's CPU allocator raises a plain RuntimeError.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
