"""Linear layers, in float or in int8 with every row of the input scaled by itself.

The int8 layer keeps its weights packed for oneDNN (one scale for each output) and quantises each input row to its own
scale, as unsigned numbers around ``ZERO``: CPUs with VNNI multiply unsigned inputs by signed weights, and oneDNN has
only its reference loop, thousands of times slower, for two signed ones where there is no AMX. Sums of products are
exact integers, so a row's result never depends on the rows that share its batch, which is what makes a batched decode
equal to a lone one. With VNNI or AMX the layer is faster than float32 and takes a quarter of its memory; older CPUs are
slower or clip the sums, so ``int8_is_faster`` tries before anyone chooses.
"""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn import functional

ZERO = 128
"""The input that stands for 0.0: inputs are 1 to 255."""

_SMALL_PROBE = (128, 64)
_PROBE_SHAPE = (4096, 384)
_PROBE_ROWS = 64
_PROBE_ROUNDS = 6
_HOPELESS = 50
_EXACT = 1e-4
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
        sums = self.products((rows / scale).round_().add_(ZERO).to(torch.uint8))
        sums.mul_(scale)
        if self.bias is not None:
            sums.add_(self.bias)
        return sums.reshape(*x.shape[:-1], sums.shape[-1])

    def products(self, rows: torch.Tensor) -> torch.Tensor:
        """The products of uint8 rows around ``ZERO``, float32 [rows, out], less the rows' own scales and the bias."""
        return torch.ops.onednn.qlinear_pointwise(
            rows,
            _NO_SCALE,
            ZERO,
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
    """Whether this CPU and this build of torch run the int8 layer, exactly and faster than float32."""
    if not hasattr(torch.ops.onednn, "qlinear_pointwise"):
        return False
    try:
        # A small product first, since one that has no kernel would take minutes in its full size.
        return _is_exact(_SMALL_PROBE) and _compared(_SMALL_PROBE) < _HOPELESS and _compared(_PROBE_SHAPE) < 1
    except (RuntimeError, NotImplementedError):
        # Builds without oneDNN's int8 kernels (some ARM ones) refuse here; float32 works everywhere.
        return False


def _compared(shape: tuple[int, int]) -> float:
    """The time of an int8 layer [out, in] as a share of the float32 one's."""
    weight, x = _randn(*shape), _randn(_PROBE_ROWS, shape[1])
    return _seconds(Int8Linear(weight, None), x) / _seconds(Linear(weight, None), x)


def _randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _is_exact(shape: tuple[int, int]) -> bool:
    """Whether large inputs give the sums of the integers; CPUs without VNNI add pairs in 16 bits, which clips them."""
    weight = _randn(*shape)
    inputs = torch.arange(shape[1], dtype=torch.int64).remainder_(5).sub_(2).mul_(63)
    scales, rounded = _quantise(weight)
    wanted = (rounded.to(torch.int64) @ inputs).double() * scales
    given = Int8Linear(weight, None).products(inputs.add(ZERO).to(torch.uint8)[None])[0]
    return bool((given - wanted).abs().max() <= _EXACT * wanted.abs().max())


def _seconds(layer: nn.Module, x: torch.Tensor) -> float:
    best = float("inf")
    for _ in range(_PROBE_ROUNDS):
        start = time.perf_counter()
        layer(x)
        best = min(best, time.perf_counter() - start)
    return best
