"""The Whisper network: an encoder over positions of sound, a decoder over tokens with a static key and value cache.

Plain torch modules, inference only. Shapes: ``batch`` requests, ``positions`` encoder positions, ``tokens`` decoder
tokens, ``width`` features. The weights come from ``whisper_weights`` under its names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch.nn import functional

from sayso.engine.modules.int8 import Int8Linear, Linear
from sayso.engine.modules.whisper_shape import Shape
from sayso.engine.modules.whisper_sizes import check
from sayso.engine.modules.whisper_weights import Weights

MakeLinear = Callable[[torch.Tensor, torch.Tensor | None], nn.Module]
_EDGE = 4


@dataclass(frozen=True)
class Build:
    """How to make the network: the type of its float weights, and the kinds of its linear layers."""

    weights: Weights
    dtype: torch.dtype
    encoder_linear: MakeLinear
    decoder_linear: MakeLinear
    head: MakeLinear

    def tensor(self, name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Raises EngineError ``model_damaged`` when it is missing or has another shape than its place."""
        found = self.weights.tensor(name, dtype or self.dtype)
        check(name, tuple(found.shape), self.weights.shape)
        return found

    def linear(self, name: str, make: MakeLinear) -> nn.Module:
        return make(self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))

    def norm(self, name: str) -> Norm:
        return Norm(self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))


class Norm(nn.Module):
    """Layer normalisation over the last dimension."""

    weight: torch.Tensor
    bias: torch.Tensor

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (x.shape[-1],), self.weight, self.bias)


def _split(x: torch.Tensor, parts: int, heads: int) -> tuple[torch.Tensor, ...]:
    """[batch, n, parts * width] to ``parts`` tensors [batch, heads, n, width / heads]."""
    batch, n, _ = x.shape
    return x.view(batch, n, parts, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)


def _join(x: torch.Tensor) -> torch.Tensor:
    """[batch, heads, n, size] to [batch, n, heads * size]."""
    return x.transpose(1, 2).flatten(2)


class EncoderLayer(nn.Module):
    def __init__(self, build: Build, name: str, heads: int) -> None:
        super().__init__()
        self.heads = heads
        make = build.encoder_linear
        self.norm, self.qkv = build.norm(f"{name}.self.norm"), build.linear(f"{name}.self.qkv", make)
        self.out = build.linear(f"{name}.self.out", make)
        self.ffn_norm, self.up = build.norm(f"{name}.ffn.norm"), build.linear(f"{name}.ffn.up", make)
        self.down = build.linear(f"{name}.ffn.down", make)

    def forward(self, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        q, k, v = _split(self.qkv(self.norm(x)), 3, self.heads)
        x = x + self.out(_join(functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)))
        return x + self.down(functional.gelu(self.up(self.ffn_norm(x))))


class Encoder(nn.Module):
    """Mel frames to states; see ``whisper_window`` for what the positions and their weights mean."""

    conv1_weight: torch.Tensor
    conv1_bias: torch.Tensor
    conv2_weight: torch.Tensor
    conv2_bias: torch.Tensor
    positions: torch.Tensor

    def __init__(self, build: Build) -> None:
        super().__init__()
        shape = build.weights.shape
        for name in ("conv1", "conv2"):
            self.register_buffer(f"{name}_weight", build.tensor(f"encoder.{name}.weight"))
            self.register_buffer(f"{name}_bias", build.tensor(f"encoder.{name}.bias"))
        self.register_buffer("positions", build.tensor("encoder.positions.weight"))
        names = [f"encoder.layers.{layer}" for layer in range(shape.encoder_layers)]
        layers = nn.ModuleList(EncoderLayer(build, name, shape.encoder_heads) for name in names)
        self.layers = cast("Sequence[EncoderLayer]", layers)
        self.norm = build.norm("encoder.norm")

    def stem(self, mel: torch.Tensor) -> torch.Tensor:
        """Mel [batch, bands, frames] through both convolutions: [batch, frames / 2, width]."""
        x = functional.gelu(functional.conv1d(mel, self.conv1_weight, self.conv1_bias, padding=1))
        return functional.gelu(functional.conv1d(x, self.conv2_weight, self.conv2_bias, stride=2, padding=1)).transpose(
            1, 2
        )

    def forward(
        self, mel: torch.Tensor, positions: torch.Tensor, dense: int, bias: torch.Tensor | None
    ) -> torch.Tensor:
        """Encode ``dense`` positions of sound and the silent positions after them.

        ``mel`` [batch, bands, 2 * (dense + 4)] ends with the silence that fills the window, so that the stem's last
        outputs give a silent position and the window's edge; ``positions`` [n] and ``bias`` [n] are the window's.
        """
        x = self.stem(mel)
        silent = len(positions) - dense
        if silent:
            silence, edge = x[:, dense + 1 : dense + 2], x[:, -1:]
            x = torch.cat([x[:, :dense], silence.expand(-1, silent - 1, -1), edge], 1)
        x = x + self.positions[positions]
        mask = None if bias is None else bias.view(1, 1, 1, -1)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


EDGE_POSITIONS = _EDGE
"""Silent positions that the mel frames of a compressed window carry after its dense ones."""


class Cache:
    """Keys and values of one batch: the encoder's, made once, and the decoder's own, filled token by token."""

    def __init__(self, shape: Shape, batch: int, tokens: int, like: torch.Tensor) -> None:
        size = shape.width // shape.decoder_heads
        own = (shape.decoder_layers, batch, shape.decoder_heads, tokens, size)
        # Zeros, not whatever lies in memory: a slot that is masked out still takes part, with the weight 0.
        self.keys, self.values = like.new_zeros(own), like.new_zeros(own)
        self.cross: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.cross_bias: torch.Tensor | None = None
        self.rows = torch.arange(batch, device=like.device)[:, None]

    def alone(self, row: int) -> Cache:
        """One row as it is now: what is written to it does not come here, and the encoder's are the same memory."""
        other = copy(self)
        other.keys, other.values = (own[:, row : row + 1].clone() for own in (self.keys, self.values))
        other.cross = [(keys[row : row + 1], values[row : row + 1]) for keys, values in self.cross]
        other.rows = self.rows[:1]
        return other

    def repeat(self, times: int) -> None:
        """So many rows with the decoder's own keys and values of every row; the encoder's stay one for all of them."""
        self.keys, self.values = self.keys.repeat_interleave(times, 1), self.values.repeat_interleave(times, 1)
        self.rows = torch.arange(self.keys.shape[1], device=self.keys.device)[:, None]

    def reserve(self, tokens: int) -> None:
        """At least so many slots for tokens in every row."""
        missing = tokens - self.keys.shape[3]
        if missing > 0:
            self.keys, self.values = (functional.pad(own, (0, 0, 0, missing)) for own in (self.keys, self.values))

    def reorder(self, parents: Sequence[int]) -> None:
        """Every row gets the decoder's own keys and values of row ``parents[row]``; there may be another number."""
        if list(parents) != list(range(self.keys.shape[1])):
            rows = torch.tensor(parents, device=self.keys.device)
            self.keys, self.values = self.keys.index_select(1, rows), self.values.index_select(1, rows)
            self.rows = torch.arange(len(parents), device=self.keys.device)[:, None]

    def hear_only(self, states: Sequence[int]) -> None:
        """Keep the encoder's keys and values of these rows of its states."""
        rows = torch.tensor(states, device=self.keys.device)
        self.cross = [(keys.index_select(0, rows), values.index_select(0, rows)) for keys, values in self.cross]


@dataclass(frozen=True)
class Step:
    """Where the tokens of one decoder call go: slots [batch, tokens], how many slots are in use, what may be seen."""

    slots: torch.Tensor
    used: int
    mask: torch.Tensor | None
    same: bool
    """Whether all rows write the same slots, which end at ``used``."""


class DecoderLayer(nn.Module):
    aligned: torch.Tensor

    def __init__(self, build: Build, index: int) -> None:
        super().__init__()
        name, make = f"decoder.layers.{index}", build.decoder_linear
        shape = build.weights.shape
        self.index, self.heads = index, shape.decoder_heads
        aligned = [head for layer, head in shape.alignment_heads if layer == index]
        self.register_buffer("aligned", torch.tensor(aligned, dtype=torch.long))
        self.norm, self.qkv = build.norm(f"{name}.self.norm"), build.linear(f"{name}.self.qkv", make)
        self.out = build.linear(f"{name}.self.out", make)
        self.cross_norm, self.cross_q = build.norm(f"{name}.cross.norm"), build.linear(f"{name}.cross.q", make)
        self.cross_kv = build.linear(f"{name}.cross.kv", build.encoder_linear)
        self.cross_out = build.linear(f"{name}.cross.out", make)
        self.ffn_norm, self.up = build.norm(f"{name}.ffn.norm"), build.linear(f"{name}.ffn.up", make)
        self.down = build.linear(f"{name}.ffn.down", make)

    def forward(self, x: torch.Tensor, cache: Cache, step: Step) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The layer's output and the cross-attention [batch, aligned heads, tokens, positions] of its aligned heads."""
        x = x + self._self_attention(self.norm(x), cache, step)
        heard, weights = self._cross_attention(self.cross_norm(x), cache)
        x = x + heard
        return x + self.down(functional.gelu(self.up(self.ffn_norm(x)))), weights

    def _self_attention(self, x: torch.Tensor, cache: Cache, step: Step) -> torch.Tensor:
        q, k, v = _split(self.qkv(x), 3, self.heads)
        keys, values = cache.keys[self.index], cache.values[self.index]
        if step.same:
            first = step.used - x.shape[1]
            keys[:, :, first : step.used], values[:, :, first : step.used] = k, v
        else:
            keys[cache.rows, :, step.slots] = k.transpose(1, 2)
            values[cache.rows, :, step.slots] = v.transpose(1, 2)
        seen = functional.scaled_dot_product_attention(
            q, keys[:, :, : step.used], values[:, :, : step.used], attn_mask=step.mask
        )
        return self.out(_join(seen))

    def _cross_attention(self, x: torch.Tensor, cache: Cache) -> tuple[torch.Tensor, torch.Tensor | None]:
        (q,) = _split(self.cross_q(x), 1, self.heads)
        keys, values = cache.cross[self.index]
        rows = len(x) // len(keys)
        if rows > 1:
            # Rows of one prompt hear the same sound: their queries share its keys.
            q = q.unflatten(0, (len(keys), rows)).transpose(1, 2).flatten(2, 3)
        logits = torch.matmul(q * q.shape[-1] ** -0.5, keys)
        if cache.cross_bias is not None:
            logits = logits + cache.cross_bias
        weights = torch.softmax(logits.float(), -1).to(q.dtype)
        heard = torch.matmul(weights, values)
        if rows > 1:
            weights, heard = (y.unflatten(2, (rows, -1)).transpose(1, 2).flatten(0, 1) for y in (weights, heard))
        heard = self.cross_out(_join(heard))
        return heard, weights[:, self.aligned] if len(self.aligned) else None


class Decoder(nn.Module):
    """Tokens to states, and states to logits over the vocabulary."""

    embedding: torch.Tensor
    positions: torch.Tensor

    def __init__(self, build: Build) -> None:
        super().__init__()
        shape = build.weights.shape
        stored = torch.float16 if build.dtype == torch.float32 and build.head is Int8Linear else build.dtype
        embedding = build.tensor("decoder.embedding.weight", stored)
        self.dtype = build.dtype
        self.register_buffer("embedding", embedding)
        self.register_buffer("positions", build.tensor("decoder.positions.weight"))
        layers = nn.ModuleList(DecoderLayer(build, index) for index in range(shape.decoder_layers))
        self.layers = cast("Sequence[DecoderLayer]", layers)
        self.norm = build.norm("decoder.norm")
        self.head = build.head(embedding, None)

    def listen(self, states: torch.Tensor, bias: torch.Tensor | None, cache: Cache) -> None:
        """Make the keys and values of the encoder's states [batch, positions, width] for every layer."""
        for layer in self.layers:
            keys, values = _split(layer.cross_kv(states), 2, layer.heads)
            cache.cross.append((keys.transpose(2, 3).contiguous(), values.contiguous()))
        cache.cross_bias = None if bias is None else bias.view(1, 1, 1, -1)

    def forward(self, tokens: torch.Tensor, cache: Cache, step: Step) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens [batch, n] to states [batch, n, width] and aligned cross-attention [batch, heads, n, positions]."""
        x = self.embedding[tokens].to(self.dtype) + self.positions[step.slots]
        attention = []
        for layer in self.layers:
            x, weights = layer(x, cache, step)
            if weights is not None:
                attention.append(weights)
        return self.norm(x), torch.cat(attention, 1)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """States [..., width] to float32 logits [..., vocabulary]."""
        return self.head(states).float()


class Network(nn.Module):
    """Encoder and decoder with the weights of one folder."""

    def __init__(self, build: Build) -> None:
        super().__init__()
        self.shape = build.weights.shape
        self.encoder, self.decoder = Encoder(build), Decoder(build)

    def weight_bytes(self) -> int:
        """Bytes of all weights as they lie in memory; tied ones count once."""
        tensors = {tensor.data_ptr(): tensor.numel() * tensor.element_size() for tensor in self.buffers()}
        packed = sum(module.weight_bytes for module in self.modules() if isinstance(module, Int8Linear))
        return sum(tensors.values()) + packed


def float_build(weights: Weights, dtype: torch.dtype) -> Build:
    """All layers in ``dtype``."""
    return Build(weights, dtype, Linear, Linear, Linear)


def int8_build(weights: Weights) -> Build:
    """Int8 where it pays on a CPU: the encoder, the vocabulary head, and everything of the larger models."""
    return Build(weights, torch.float32, Int8Linear, _by_size, Int8Linear)


_SMALLEST_INT8 = 384 * 1024


def _by_size(weight: torch.Tensor, bias: torch.Tensor | None) -> nn.Module:
    """A small layer is in cache anyway: quantising its one input row costs more than it saves."""
    return (Int8Linear if weight.numel() >= _SMALLEST_INT8 else Linear)(weight, bias)
