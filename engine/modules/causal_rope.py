"""Angles of the rotary positions of text models, in the kinds that their configurations name.

Facts: transformers' rope utilities (``linear``, ``llama3``, and ``yarn`` of arXiv 2309.00071); the code is our own.
Everything is computed in float32 and in the same order, since models were trained with these very numbers.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sayso.engine.modules.causal_shape import RopeShape
from sayso.engine.modules.rope import plain_steps


def steps(rope: RopeShape, head_width: int) -> Tensor:
    """The angle from one position to the next for each pair of dimensions: [head_width / 2], float32."""
    plain = plain_steps(head_width, rope.theta)
    if rope.kind == "linear":
        return plain / rope.factor
    if rope.kind == "llama3":
        return _llama3(rope, plain)
    if rope.kind == "yarn":
        return _yarn(rope, head_width)
    return plain


def scale(rope: RopeShape) -> float:
    """What queries and keys are multiplied by when they are turned."""
    if rope.kind != "yarn":
        return 1.0
    if rope.attention_factor is not None:
        return rope.attention_factor
    if rope.mscale and rope.mscale_all_dim:
        return _stretch(rope.factor, rope.mscale) / _stretch(rope.factor, rope.mscale_all_dim)
    return _stretch(rope.factor, 1.0)


def _llama3(rope: RopeShape, plain: Tensor) -> Tensor:
    """Slow turns are slowed down by the factor, quick ones stay, those between are blended."""
    wavelength = 2 * math.pi / plain
    longest, shortest = (
        rope.original_length / rope.low_freq_factor,
        rope.original_length / rope.high_freq_factor,
    )
    slowed = torch.where(wavelength > longest, plain / rope.factor, plain)
    share = (rope.original_length / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor)
    blended = (1 - share) * slowed / rope.factor + share * slowed
    between = (wavelength >= shortest) & (wavelength <= longest)
    return torch.where(between, blended, slowed)


def _yarn(rope: RopeShape, width: int) -> Tensor:
    """Dimensions that turn often within the original length stay, those that do not are slowed down."""

    def dimension(turns: float) -> float:
        return width * math.log(rope.original_length / (turns * 2 * math.pi)) / (2 * math.log(rope.theta))

    low, high = dimension(rope.beta_fast), dimension(rope.beta_slow)
    if rope.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001
    turning = rope.theta ** (torch.arange(0, width, 2, dtype=torch.float32) / width)
    kept = 1 - ((torch.arange(width // 2, dtype=torch.float32) - low) / (high - low)).clamp(0, 1)
    return 1.0 / (rope.factor * turning) * (1 - kept) + 1.0 / turning * kept


def _stretch(factor: float, mscale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0
