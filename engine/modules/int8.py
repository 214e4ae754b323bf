"""Linear layers, in float or in int8 with every row of the input scaled by itself.

The int8 layer keeps its weights packed for oneDNN (one scale for each output) and quantises each input row to its own
scale. Sums of products are exact integers, so a row's result never depends on the rows that share its batch, which is
what makes a batched decode equal to a lone one. With VNNI or AMX the layer is several times faster than float32 and
takes a quarter of its memory; without them it may be slower, so ``int8_is_faster`` measures before anyone chooses.
"""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn import functional

_PROBE_SHAPE = (4096, 384)
_PROBE_ROUNDS = 12
_NO_SCALE = 1.0
_PIECE_ROWS = 4096


class Linear(nn.Module):
    """``x @ weight.T + bias`` in the weight's own type; weight is [out, in]."""

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weight, self.bias)


class Int8Linear(nn.Module):
    """The same in int8 on a CPU; the float weight is not kept."""

    scales: torch.Tensor
    zeros: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        scales, rounded = _quantise(weight)
        self._packed = torch.ops.onednn.qlinear_prepack(rounded, None)
        self._bytes = rounded.numel() + 4 * scales.numel()
        self.register_buffer("scales", scales)
        self.register_buffer("zeros", torch.zeros(len(scales), dtype=torch.int8))
        self.register_buffer("bias", bias)

    @property
    def weight_bytes(self) -> int:
        return self._bytes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        low, high = rows.aminmax(dim=1, keepdim=True)
        scale = torch.maximum(high, low.neg_()).clamp_(min=1e-8).div_(127.0)
        sums = self.products((rows / scale).round_().to(torch.int8))
        sums.mul_(scale)
        if self.bias is not None:
            sums.add_(self.bias)
        return sums.reshape(*x.shape[:-1], sums.shape[-1])

    def products(self, rows: torch.Tensor) -> torch.Tensor:
        """The products of int8 rows in float32 [rows, out]; the rows' own scales and the bias are still to come."""
        return torch.ops.onednn.qlinear_pointwise(
            rows,
            _NO_SCALE,
            0,
            self._packed,
            self.scales,
            self.zeros,
            None,
            _NO_SCALE,
            0,
            torch.float32,
            "none",
            [],
            "",
        )


def _quantise(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One scale for each row of ``weight`` and the rounded rows, made piece by piece to keep no large float copy."""
    scales = torch.empty(len(weight))
    rounded = torch.empty(weight.shape, dtype=torch.int8)
    for start in range(0, len(weight), _PIECE_ROWS):
        piece = weight[start : start + _PIECE_ROWS].to(torch.float32, copy=True)
        scale = piece.abs().amax(1).clamp_(min=1e-12).div_(127.0)
        scales[start : start + _PIECE_ROWS] = scale
        rounded[start : start + _PIECE_ROWS] = piece.div_(scale[:, None]).round_()
    return scales, rounded


def int8_is_faster() -> bool:
    """Whether this CPU and this build of torch run the int8 layer, rightly and faster than float32 (takes ~20 ms)."""
    if not hasattr(torch.ops.onednn, "qlinear_pointwise"):
        return False
    generator = torch.Generator().manual_seed(0)
    weight, x = torch.randn(_PROBE_SHAPE, generator=generator), torch.randn(64, _PROBE_SHAPE[1], generator=generator)
    exact = Linear(weight, None)
    try:
        fast = Int8Linear(weight, None)
        error = (fast(x) - exact(x)).std() / exact(x).std()
    except (RuntimeError, NotImplementedError):
        # Builds without oneDNN's int8 kernels (some ARM ones) refuse here; float32 works everywhere.
        return False
    return bool(error < 0.05) and _seconds(fast, x) < _seconds(exact, x)


def _seconds(layer: nn.Module, x: torch.Tensor) -> float:
    best = float("inf")
    for _ in range(_PROBE_ROUNDS):
        start = time.perf_counter()
        layer(x)
        best = min(best, time.perf_counter() - start)
    return best
