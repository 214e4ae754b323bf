"""How many threads half a step of Voxtral Realtime is worth on a CPU.

Threads that wait sleep, and waking one for an operation takes about as long as a small model's matrix product. A step
over few sessions is sooner done by one thread, and stays so when the machine is busy with other things.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sayso.engine.modules.voxtral_shape import StackShape

_WAKE_S = 100e-6
"""What it costs to share one operation."""
_SHARED = 5
"""Operations of a layer that would be shared: four products and the attention."""
_READ_S = 1 / 16e9
"""One thread reads a byte of weights or of a cache."""
_MULTIPLY_S = {torch.float32: 14e-12, torch.int8: 2.5e-12}
"""One thread multiplies and adds once. Measured, like the others, on a core with AVX-512 and AMX."""


def threads_for(
    shape: StackShape, sessions: int, new: int, entries: int, weights: torch.dtype, cache: torch.dtype, most: int
) -> int:
    """1 or ``most``: for ``sessions`` with ``new`` positions each, whose rings hold up to ``entries``."""
    attention = 2 * shape.heads * shape.head_width + 2 * shape.kv_heads * shape.head_width
    layer = shape.width * (attention + 3 * shape.inner)
    held = sessions * entries * 2 * shape.kv_heads * shape.head_width
    multiply_s = _MULTIPLY_S.get(weights, _MULTIPLY_S[torch.float32])
    alone_s = (layer * weights.itemsize + held * cache.itemsize) * _READ_S + layer * sessions * new * multiply_s
    return most if alone_s * (1 - 1 / most) > _SHARED * _WAKE_S else 1


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Within, operations that this thread starts are shared among so many threads."""
    before = torch.get_num_threads()
    if count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
