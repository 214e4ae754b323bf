"""Makes layers from stored tensors in the number types that a model was asked to run in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from sayso.engine.modules.int8 import Int8Linear, Linear
from sayso.engine.modules.packed_linear import PackedLinear, packing_works
from sayso.engine.modules.row_order import OrderedLinear


class Weights(Protocol):
    """Tensors by name, such as ``StoredTensors``."""

    def __contains__(self, name: str) -> bool: ...

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Raises EngineError ``model_damaged`` when it is missing or of another shape."""
        ...


@dataclass(frozen=True)
class Precision:
    """Types of one loaded model: what layers compute in, whether their weights are int8, and what rings hold."""

    compute: torch.dtype
    int8_weights: bool
    cache: torch.dtype


class Builder:
    """Makes layers from stored tensors in the wanted precision."""

    def __init__(self, weights: Weights, precision: Precision, device: torch.device) -> None:
        self.weights = weights
        self.precision = precision
        self.device = device
        float32_on_cpu = device.type == "cpu" and precision.compute == torch.float32
        self._packs = float32_on_cpu and packing_works()

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        return self.weights.tensor(name, shape).to(self.device, self.precision.compute)

    def joined(self, names: list[tuple[str, int]], width: int, *, bias: bool) -> nn.Module:
        """One layer for projections (name, outputs) of the same input; a part without a bias gets zeros."""
        weight = torch.cat([self.tensor(f"{name}.weight", (out, width)) for name, out in names])
        return self.layer(weight, self._biases(names) if bias else None)

    def layer(self, weight: Tensor, bias: Tensor | None) -> nn.Module:
        if self.precision.int8_weights:
            return Int8Linear(weight, bias)
        return self.float_layer(weight, bias)

    def float_layer(self, weight: Tensor, bias: Tensor | None) -> nn.Module:
        """A layer whose weights are never int8."""
        if self.device.type != "cpu":
            return Linear(weight, bias)
        return PackedLinear(weight, bias) if self._packs else OrderedLinear(weight, bias)

    def _biases(self, names: list[tuple[str, int]]) -> Tensor:
        missing = torch.zeros(0, dtype=self.precision.compute, device=self.device)
        return torch.cat(
            [
                self.tensor(f"{name}.bias", (out,)) if f"{name}.bias" in self.weights else missing.new_zeros(out)
                for name, out in names
            ]
        )


def weight_bytes(module: nn.Module) -> int:
    """Memory of all weights of a module: its plain tensors, its buffers, and what its packed layers say they keep."""
    total = 0
    for part in module.modules():
        own = [value for value in part._buffers.values() if value is not None]
        if isinstance(part, Int8Linear | PackedLinear):
            total += part.weight_bytes
        else:
            own += [value for value in vars(part).values() if isinstance(value, Tensor)]
        total += sum(value.nbytes for value in own)
    return total
