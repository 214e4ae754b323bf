"""The network of causal text models: embedding, layers of attention and gated feed-forward, head.

One network for the Llama, Mistral and Qwen families; what differs comes from ``CausalShape``. Tokens of all sessions
lie in one row [tokens, width], whatever session and position each has, so that a step has no padding. Operations are
in the order that transformers uses.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayso.engine.modules.builder import Builder, weight_bytes
from sayso.engine.modules.causal_shape import CausalShape
from sayso.engine.modules.int8 import Linear
from sayso.engine.modules.norms import rms_norm
from sayso.engine.modules.rope import turn
from sayso.engine.paged_cache import PagedCache, PageStep

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"

Angles = tuple[Tensor, Tensor]


class Attention(nn.Module):
    """Rotary attention over the sessions' pages."""

    def __init__(self, build: Builder, name: str, shape: CausalShape, layer: int) -> None:
        super().__init__()
        self._shape = shape
        self._layer = layer
        queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        parts = [(f"{name}.q_proj", queries), (f"{name}.k_proj", keys), (f"{name}.v_proj", keys)]
        self.qkv = _joined(build, parts, shape.width, bias=shape.qkv_bias)
        self.out = _joined(build, [(f"{name}.o_proj", shape.width)], queries, bias=shape.out_bias)
        self.query_norm = build.tensor(f"{name}.q_norm.weight", (shape.head_width,)) if shape.head_norms else None
        self.key_norm = build.tensor(f"{name}.k_norm.weight", (shape.head_width,)) if shape.head_norms else None

    def forward(self, x: Tensor, angles: Angles, cache: PagedCache, step: PageStep) -> Tensor:
        """x [tokens, width] to the same shape."""
        shape = self._shape
        heads = self.qkv(x).view(len(x), shape.heads + 2 * shape.kv_heads, shape.head_width)
        turned = heads[:, : shape.heads + shape.kv_heads]
        if self.query_norm is not None and self.key_norm is not None:
            turned[:, : shape.heads] = rms_norm(turned[:, : shape.heads], self.query_norm, shape.epsilon)
            turned[:, shape.heads :] = rms_norm(turned[:, shape.heads :], self.key_norm, shape.epsilon)
        turned.copy_(turn(turned, *angles))
        cache.write(self._layer, step, heads[:, shape.heads :].unflatten(1, (2, shape.kv_heads)))
        seen = cache.attend(self._layer, step, heads[:, : shape.heads], shape.windows[self._layer])
        return self.out(seen.flatten(1))


class FeedForward(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, build: Builder, name: str, shape: CausalShape) -> None:
        super().__init__()
        parts = [(f"{name}.gate_proj", shape.inner), (f"{name}.up_proj", shape.inner)]
        self.gate_up = _joined(build, parts, shape.width, bias=shape.feed_forward_bias)
        self.down = _joined(build, [(f"{name}.down_proj", shape.width)], shape.inner, bias=shape.feed_forward_bias)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(functional.silu(gate).mul_(up))


class Layer(nn.Module):
    def __init__(self, build: Builder, shape: CausalShape, layer: int) -> None:
        super().__init__()
        name = f"model.layers.{layer}"
        self._epsilon = shape.epsilon
        self.before_attention = build.tensor(f"{name}.input_layernorm.weight", (shape.width,))
        self.before_feed_forward = build.tensor(f"{name}.post_attention_layernorm.weight", (shape.width,))
        self.attention = Attention(build, f"{name}.self_attn", shape, layer)
        self.feed_forward = FeedForward(build, f"{name}.mlp", shape)

    def forward(self, x: Tensor, angles: Angles, cache: PagedCache, step: PageStep) -> Tensor:
        x = x + self.attention(rms_norm(x, self.before_attention, self._epsilon), angles, cache, step)
        return x + self.feed_forward(rms_norm(x, self.before_feed_forward, self._epsilon))


class CausalNetwork(nn.Module):
    """All layers, without any session's state."""

    def __init__(self, build: Builder, shape: CausalShape) -> None:
        super().__init__()
        self.shape = shape
        self.layers = nn.ModuleList(Layer(build, shape, layer) for layer in range(shape.layers))
        self.norm = build.tensor("model.norm.weight", (shape.width,))
        size = (shape.vocabulary, shape.width)
        embedding = build.tensor(EMBEDDING, size)
        self.head = build.layer(embedding if shape.tied else build.tensor(HEAD, size), None)
        self.embedding = embedding if isinstance(self.head, Linear) else _narrow(build, embedding)
        self._compute = build.precision.compute

    def forward(self, tokens: Tensor, rows: Tensor, angles: Angles, cache: PagedCache, step: PageStep) -> Tensor:
        """Float32 logits [rows, vocabulary] after the tokens at the places ``rows`` of ``tokens`` [tokens]."""
        x = functional.embedding(tokens, self.embedding).to(self._compute)
        for layer in self.layers:
            x = layer(x, angles, cache, step)
        return self.head(rms_norm(x[rows], self.norm, self.shape.epsilon)).float()

    @property
    def weight_bytes(self) -> int:
        """Memory of all weights."""
        return weight_bytes(self)


def _joined(build: Builder, parts: list[tuple[str, int]], width: int, *, bias: bool) -> nn.Module:
    """One layer for projections (name, outputs) of the same input; their biases must all be there, or none."""
    weight = torch.cat([build.tensor(f"{name}.weight", (out, width)) for name, out in parts])
    biases = torch.cat([build.tensor(f"{name}.bias", (out,)) for name, out in parts]) if bias else None
    return build.layer(weight, biases)


def _narrow(build: Builder, embedding: Tensor) -> Tensor:
    """The rows to look tokens up in, as small as they are without loss: a packed head keeps a copy of its own."""
    stored = build.weights.tensor(EMBEDDING, tuple(embedding.shape))
    if build.precision.int8_weights:
        return stored.to(torch.bfloat16)
    return stored if stored.element_size() < embedding.element_size() else embedding
