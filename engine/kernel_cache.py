"""Kernels that oneDNN makes for torch: how many are kept, and how they are given up. Loop thread.

Every shape of a matrix product, so every number of rows, has a kernel of its own whose description takes 0.26 MB, and
some are described twice. oneDNN keeps 1024 of them by default, and torch's layer above it (ideep) 1024 descriptions
more: with 300 shapes that was 96 MB, and how much of it there was depended on who had spoken together. Torch has no
call that tells them to forget, but both forget what was used least recently when something new comes.
"""

from __future__ import annotations

import os
import sys

KERNELS = 64
DESCRIPTIONS = 16
"""As many as one kind of step needs; these are never forgotten. With 64 of them steps of the small Voxtral shape took
up to 8 % less time, and an engine that has given its model back held 14 MB more.
"""


def bound_kernels() -> None:
    """Keep few; read once, when torch is imported."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))
    os.environ.setdefault("LRU_CACHE_CAPACITY", str(DESCRIPTIONS))


def forget_kernels() -> None:
    """Put small ones in the place of all kernels, which takes about 6 ms; each is made again, in 0.5 ms, when used."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.backends.mkldnn.is_available():
        return
    for size in range(1, KERNELS + 1):
        # A copy between two layouts is a kernel of some kB.
        torch.zeros(size).to_mkldnn()
