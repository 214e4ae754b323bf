"""Has a library that computes with OpenMP do so on the thread that calls it.

OpenMP reads its limits once, when it is loaded, and from the environment alone; each library that brings its own copy
has its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, MutableMapping

_LIMIT = "OMP_THREAD_LIMIT"


@contextlib.contextmanager
def one_thread(environment: MutableMapping[str, str] = os.environ) -> Iterator[None]:
    """A library that is loaded while the block runs computes on its caller's thread; the environment is put back."""
    before = environment.get(_LIMIT)
    environment[_LIMIT] = "1"
    try:
        yield
    finally:
        if before is None:
            del environment[_LIMIT]
        else:
            environment[_LIMIT] = before
