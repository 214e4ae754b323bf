"""The layers of Voxtral Realtime's two stacks: attention over rings, gated feed-forward, and the delay's scale.

Both stacks have the same layers; the encoder has biases, the decoder multiplies the feed-forward input by a scale that
depends on the session's delay. Rows are sessions, each with ``new`` positions. Operations are in the order that
transformers uses, so that tokens are equal in every type.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from sayso.engine.modules.builder import Builder
from sayso.engine.modules.norms import rms_norm
from sayso.engine.modules.rope import turn
from sayso.engine.modules.row_order import row_by_row
from sayso.engine.modules.voxtral_shape import StackShape
from sayso.engine.ring_cache import Rings, RingStep


class Attention(nn.Module):
    """Rotary attention over the sessions' rings."""

    def __init__(self, build: Builder, name: str, shape: StackShape, *, bias: bool) -> None:
        super().__init__()
        self._shape = shape
        queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        parts = [(f"{name}.q_proj", queries), (f"{name}.k_proj", keys), (f"{name}.v_proj", keys)]
        self.qkv = build.joined(parts, shape.width, bias=bias)
        out = build.tensor(f"{name}.o_proj.weight", (shape.width, queries))
        self.out = build.layer(out, build.tensor(f"{name}.o_proj.bias", (shape.width,)) if bias else None)

    def forward(self, x: Tensor, angles: tuple[Tensor, Tensor], rings: Rings, step: RingStep, layer: int) -> Tensor:
        """x [rows, new, width] to the same shape."""
        shape = self._shape
        rows, new, _ = x.shape
        heads = self.qkv(x).view(rows, new, shape.heads + 2 * shape.kv_heads, shape.head_width)
        turned = heads[:, :, : shape.heads + shape.kv_heads]
        turned.copy_(turn(turned, *angles))
        rings.write(layer, step, heads[:, :, shape.heads :])
        # Query heads of one key head become more queries of it: [rows, key heads, grouped * new, head width].
        queries = heads[:, :, : shape.heads].view(rows, new, shape.kv_heads, shape.grouped, shape.head_width)
        queries = queries.permute(0, 2, 3, 1, 4).reshape(rows, shape.kv_heads, -1, shape.head_width)
        seen = rings.attend(layer, step, queries)
        seen = seen.view(rows, shape.kv_heads, shape.grouped, new, shape.head_width).permute(0, 3, 1, 2, 4)
        return self.out(seen.reshape(rows, new, -1))


class FeedForward(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, build: Builder, name: str, shape: StackShape, *, bias: bool) -> None:
        super().__init__()
        parts = [(f"{name}.gate_proj", shape.inner), (f"{name}.up_proj", shape.inner)]
        self.gate_up = build.joined(parts, shape.width, bias=False)
        down = build.tensor(f"{name}.down_proj.weight", (shape.width, shape.inner))
        self.down = build.layer(down, build.tensor(f"{name}.down_proj.bias", (shape.width,)) if bias else None)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(row_by_row(functional.silu, gate).mul_(up))


class Layer(nn.Module):
    def __init__(self, build: Builder, name: str, shape: StackShape, norms: tuple[str, str], *, bias: bool) -> None:
        super().__init__()
        self._epsilon = shape.epsilon
        self.before_attention = build.tensor(f"{name}.{norms[0]}.weight", (shape.width,))
        self.before_feed_forward = build.tensor(f"{name}.{norms[1]}.weight", (shape.width,))
        self.attention = Attention(build, f"{name}.self_attn", shape, bias=bias)
        self.feed_forward = FeedForward(build, f"{name}.mlp", shape, bias=bias)

    def forward(self, x: Tensor, attend: Callable[[Attention, Tensor], Tensor], scale: Tensor | None) -> Tensor:
        """``scale`` [rows, 1, width] multiplies the feed-forward input."""
        x = x + attend(self.attention, rms_norm(x, self.before_attention, self._epsilon))
        inner = rms_norm(x, self.before_feed_forward, self._epsilon)
        return x + self.feed_forward(inner if scale is None else inner * scale)


class Stack(nn.Module):
    """All layers of the encoder or the decoder, and the last norm."""

    def __init__(self, build: Builder, name: str, shape: StackShape, norms: tuple[str, str], *, bias: bool) -> None:
        super().__init__()
        self.shape = shape
        self.layers = nn.ModuleList(
            Layer(build, f"{name}.layers.{index}", shape, norms, bias=bias) for index in range(shape.layers)
        )
        self.norm = build.tensor(f"{name}.norm.weight", (shape.width,))

    def forward(
        self, x: Tensor, angles: tuple[Tensor, Tensor], rings: Rings, step: RingStep, scales: Tensor | None = None
    ) -> Tensor:
        """x [rows, new, width]; ``scales`` [rows, layers, width] for the decoder."""
        for index, layer in enumerate(self.layers):

            def attend(attention: Attention, inner: Tensor, index: int = index) -> Tensor:
                return attention(inner, angles, rings, step, index)

            x = layer(x, attend, None if scales is None else scales[:, index : index + 1])
        return rms_norm(x, self.norm, self.shape.epsilon)
