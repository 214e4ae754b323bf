"""Root-mean-square normalisation, in the order of operations that transformers uses in every type."""

from __future__ import annotations

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """``x`` [..., width] scaled to a root mean square of 1 in float32, then by ``weight`` in the type of ``x``."""
    wide = x.float()
    scale = wide.square().mean(-1, keepdim=True).add_(epsilon).rsqrt_()
    if x.dtype == torch.float32:
        return (wide * scale).mul_(weight)
    return weight * (wide * scale).to(x.dtype)
