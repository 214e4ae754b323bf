"""A float32 linear layer whose weights are laid out once for oneDNN.

The ordinary layer arranges its weights anew in each call, which costs as much as the product itself when a handful of
rows share it, as in a step over a few sessions. The sums are the same up to the order of addition, and a row's do not
depend on the rows beside it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sayso.engine.modules.row_order import in_company, keeps_order

_ROWS = 4
"""The arrangement that oneDNN chooses for so few rows is as good as any for more."""


class PackedLinear(nn.Module):
    """``x @ weight.T + bias`` on a CPU; only the arranged copy of ``weight`` [out, in] is kept."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS)
        self._bytes = weight.nbytes
        self.register_buffer("bias", bias)
        # Of short rows it does, and a lone one costs a tenth less by itself.
        self._keeps_order = keeps_order(self._products, weight.shape[1])

    @property
    def weight_bytes(self) -> int:
        return self._bytes

    def forward(self, x: Tensor) -> Tensor:
        return self._products(x) if self._keeps_order else in_company(self._products, x)

    def _products(self, x: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], "")


def packing_works() -> bool:
    """Whether this build of torch can pack weights (those without oneDNN cannot)."""
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        return bool(torch.allclose(PackedLinear(weight, None)(x), x))
    except (RuntimeError, NotImplementedError):
        # Other processors' builds have the operators and refuse them here; the ordinary layer works everywhere.
        return False
