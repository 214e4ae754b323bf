"""The network of Voxtral Realtime: from mel frames to one audio embedding, and from there to the next token's scores.

Causal convolutions with carried tails, a causal encoder, an adapter that joins four encoder frames, and a decoder whose
input is the sum of the last token's embedding and the audio's. Facts: the model's published code in transformers; all
code here is our own.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayso.engine.modules.builder import Builder, weight_bytes
from sayso.engine.modules.int8 import Int8Linear
from sayso.engine.modules.voxtral_layers import Stack
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION, VoxtralShape
from sayso.engine.modules.voxtral_weights import EMBEDDING

MEL_TAIL, CONV_TAIL = 2, 1
"""Frames that each convolution carries over to the next step."""
_DELAY_THETA = 10_000.0


class Stem(nn.Module):
    """Two causal convolutions, written as matrix products over the last three frames; the second halves the rate."""

    def __init__(self, build: Builder, shape: VoxtralShape) -> None:
        super().__init__()
        width, bands = shape.encoder.width, shape.mel_bands
        name = "audio_tower.embedder"
        # [out, in, time] to [out, time * in]: frames lie one after the other in memory.
        first = build.tensor(f"{name}.conv1.weight", (width, bands, 3)).permute(0, 2, 1).reshape(width, -1)
        second = build.tensor(f"{name}.conv2.weight", (width, width, 3)).permute(0, 2, 1).reshape(width, -1)
        self.first = build.float_layer(first.contiguous(), build.tensor(f"{name}.conv1.bias", (width,)))
        self.second = build.float_layer(second.contiguous(), build.tensor(f"{name}.conv2.bias", (width,)))

    def forward(self, mel: Tensor, mel_tail: Tensor, conv_tail: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mel [rows, frames, bands] with its tails to [rows, frames / 2, width] and the new tails."""
        frames = torch.cat([mel_tail, mel], 1)
        inner = functional.gelu(self.first(_windows(frames, 1)))
        joined = torch.cat([conv_tail, inner], 1)
        out = functional.gelu(self.second(_windows(joined, 2)))
        return out, frames[:, -MEL_TAIL:], joined[:, -CONV_TAIL:]


class Network(nn.Module):
    """All layers, without any session's state."""

    def __init__(self, build: Builder, shape: VoxtralShape) -> None:
        super().__init__()
        self.shape = shape
        encoder, decoder = shape.encoder, shape.decoder
        self.stem = Stem(build, shape)
        self.encoder = Stack(build, "audio_tower", encoder, ("self_attn_layer_norm", "final_layer_norm"), bias=True)
        joined = encoder.width * FRAMES_PER_POSITION
        self.adapter_in = build.joined([("multi_modal_projector.linear_1", decoder.width)], joined, bias=False)
        self.adapter_out = build.joined([("multi_modal_projector.linear_2", decoder.width)], decoder.width, bias=False)
        self.decoder = Stack(
            build, "language_model", decoder, ("input_layernorm", "post_attention_layernorm"), bias=False
        )
        embedding = build.tensor(EMBEDDING, (shape.vocabulary, decoder.width))
        self.head = build.layer(embedding, None)
        # The int8 head keeps no float rows to look tokens up in.
        self.embedding = embedding.to(torch.bfloat16) if isinstance(self.head, Int8Linear) else embedding
        self._delay_layers = [_delay_layers(build, shape, index) for index in range(decoder.layers)]

    def adapt(self, encoded: Tensor) -> Tensor:
        """Encoder frames [rows, 4 n, width] to audio embeddings [rows, n, decoder width]."""
        rows, frames, width = encoded.shape
        joined = encoded.reshape(rows, frames // FRAMES_PER_POSITION, width * FRAMES_PER_POSITION)
        return self.adapter_out(functional.gelu(self.adapter_in(joined)))

    def fuse(self, tokens: Tensor, audio: Tensor) -> Tensor:
        """The decoder's input: token embeddings [rows, n] plus audio [rows, n, width]."""
        return functional.embedding(tokens, self.embedding).to(audio.dtype) + audio

    def delay_scales(self, delay: int) -> Tensor:
        """What the feed-forward inputs of a session with this delay are multiplied by: [layers, width]."""
        dtype, device = self.decoder.norm.dtype, self.decoder.norm.device
        half = self.shape.decoder.width // 2
        steps = torch.exp(-math.log(_DELAY_THETA) * torch.arange(half).float() / half).to(device, dtype)
        turned = torch.full((1,), float(delay), dtype=dtype, device=device) * steps
        condition = torch.cat([turned.cos(), turned.sin()])
        scales = [
            functional.linear(functional.gelu(functional.linear(condition, first)), second)
            for first, second in self._delay_layers
        ]
        return 1 + torch.stack(scales)

    @property
    def weight_bytes(self) -> int:
        """Memory of all weights."""
        return weight_bytes(self)


def _delay_layers(build: Builder, shape: VoxtralShape, index: int) -> tuple[Tensor, Tensor]:
    name, inner, width = f"language_model.layers.{index}.ada_rms_norm", shape.condition_width, shape.decoder.width
    return build.tensor(f"{name}.linear1.weight", (inner, width)), build.tensor(
        f"{name}.linear2.weight", (width, inner)
    )


def _windows(frames: Tensor, stride: int) -> Tensor:
    """Three neighbouring frames each [rows, n, 3 * width] of frames [rows, time, width]."""
    return frames.unfold(1, 3, stride).permute(0, 1, 3, 2).flatten(2)
