"""The layers of Voxtral Realtime on a CPU with all that lies between matrix products and attention fused.

``FusedStack`` gives what ``Stack`` gives, with float32 or int8 weights and caches of float32 or bfloat16; the work is
done by ``row_kernels``. Where those cannot be used the plain stack runs. Loop thread.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from sayso.engine.modules.int8 import Int8Linear
from sayso.engine.modules.voxtral_layers import Layer, Stack
from sayso.engine.ring_cache import Rings, RingStep

logger = logging.getLogger(__name__)

StackStep = Callable[..., Tensor]
"""Called with x [sessions, new, width], angles, a ``RingStep`` and, for the decoder, scales."""

_CACHES = (torch.float32, torch.bfloat16)
_NONE = np.zeros(0, np.float32)
_NO_ROWS = np.zeros((0, 0), np.float32)
_NO_SCALES = np.zeros((0, 0, 0), np.float32)


def stack_over(stack: Stack, rings: Rings) -> StackStep:
    """The stack over these rings, fused where that is possible."""
    kernels = row_kernels() if _fusible(stack, rings) else None
    if kernels is None:
        return lambda x, angles, step, scales=None: stack(x, angles, rings, step, scales)
    return FusedStack(stack, rings, kernels)


def _fusible(stack: Stack, rings: Rings) -> bool:
    return rings.device.type == "cpu" and stack.norm.dtype == torch.float32 and rings.shape.dtype in _CACHES


def row_kernels() -> ModuleType | None:
    """The compiled kernels, or None where numba cannot be used."""
    if importlib.util.find_spec("numba") is None:
        return None
    try:
        from sayso.engine.modules import row_kernels as kernels
    except (ImportError, RuntimeError) as error:
        # An installation that does not fit numpy, or no folder at all to keep machine code in.
        logger.warning("steps take longer than they could, since numba cannot be used: %s", error)
        return None
    return kernels


class FusedStack:
    """See the module; called like ``Stack``, less the rings."""

    def __init__(self, stack: Stack, rings: Rings, kernels: ModuleType) -> None:
        self._shape, self._rings = stack.shape, rings
        self._layers = [_FusedLayer.of(cast(Layer, layer)) for layer in stack.layers]
        self._norm, self._epsilon = stack.norm.numpy(), np.float32(stack.shape.epsilon)
        self._stored = _words(rings.flat)
        self._int8 = self._layers[0].qkv.int8
        self._kernels = kernels
        kind = "_int8" if self._int8 else ""
        self._add_norm, self._join, self._gate = (
            getattr(kernels, name + kind) for name in ("add_norm", "join_heads", "gate")
        )

    def __call__(
        self, x: Tensor, angles: tuple[Tensor, Tensor], step: RingStep, scales: Tensor | None = None
    ) -> Tensor:
        """x [sessions, new, width]; ``scales`` [sessions, layers, width] for the decoder."""
        shape, (sessions, new, width) = self._shape, x.shape
        count = sessions * new
        normed, seen, inner = (self._rows(count, wide) for wide in (width, shape.heads * shape.head_width, shape.inner))
        asked_shape = (sessions, shape.kv_heads, shape.grouped * new, shape.head_width)
        asked = torch.empty(asked_shape, dtype=self._rings.shape.dtype)
        queries = _words(asked)
        turned = [angle.reshape(count, shape.head_width).numpy() for angle in angles]
        places, length = (step.slots.numpy(), step.entries.numpy(), self._stored), self._rings.shape.length
        by_session = _NO_SCALES if scales is None else scales.numpy()
        out, rows = torch.empty((count, width)), x.reshape(count, width).clone().numpy()
        added: tuple[np.ndarray, np.ndarray, np.ndarray] = (_NO_ROWS, _NONE, _NONE)
        for index, layer in enumerate(self._layers):
            self._add_norm(rows, *added, layer.before_attention, self._epsilon, _NO_SCALES, 0, new, *normed.into)
            at = self._rings.layer_start(index)
            self._kernels.turn_heads(*layer.qkv(normed), *turned, *places, at, length, queries)
            attended = self._rings.attend(index, step, asked).transpose(1, 2).contiguous()
            self._join(_words(attended), new, *seen.into)
            added = layer.out(seen)
            self._add_norm(rows, *added, layer.before_feed_forward, self._epsilon, by_session, index, new, *normed.into)
            self._gate(*layer.gate_up(normed)[:2], *inner.into)
            added = layer.down(inner)
        self._kernels.add_norm(rows, *added, self._norm, self._epsilon, _NO_SCALES, 0, new, out.numpy())
        return out.view(sessions, new, width)

    def _rows(self, count: int, width: int) -> _Rows:
        return _Rows(count, width, int8=self._int8)


class _Rows:
    """Rows that a product takes: float32, or bytes with a scale each."""

    def __init__(self, count: int, width: int, *, int8: bool) -> None:
        self.values = torch.empty((count, width), dtype=torch.uint8 if int8 else torch.float32)
        self.scales = np.empty(count, np.float32) if int8 else _NONE
        self.into: tuple[np.ndarray, ...] = (self.values.numpy(), self.scales)[: 1 + int8]
        """What a kernel writes."""


class _Product:
    """A linear layer. Called with rows it gives their products, and the scales and the bias that those still lack."""

    def __init__(self, layer: nn.Module) -> None:
        self.int8 = False
        self._multiply: Callable[[Tensor], Tensor] = layer
        self._bias = _NONE
        if isinstance(layer, Int8Linear):
            # The float layers add their bias themselves.
            self.int8, self._multiply = True, layer.products
            self._bias = layer.bias.numpy() if layer.bias is not None else _NONE

    def __call__(self, rows: _Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._multiply(rows.values).numpy(), rows.scales, self._bias


@dataclass(frozen=True)
class _FusedLayer:
    before_attention: np.ndarray
    before_feed_forward: np.ndarray
    qkv: _Product
    out: _Product
    gate_up: _Product
    down: _Product

    @classmethod
    def of(cls, layer: Layer) -> _FusedLayer:
        attention, feed_forward = layer.attention, layer.feed_forward
        return cls(
            layer.before_attention.numpy(),
            layer.before_feed_forward.numpy(),
            *map(_Product, (attention.qkv, attention.out, feed_forward.gate_up, feed_forward.down)),
        )


def _words(values: Tensor) -> np.ndarray:
    """The same memory for numpy, which has no bfloat16: its bits come as uint16."""
    return (values.view(torch.uint16) if values.dtype == torch.bfloat16 else values).numpy()
