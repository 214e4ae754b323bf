"""When each token was said, from the cross-attention of the heads that follow the sound.

The attention of every head is normalised over the tokens (some positions draw every token's attention), smoothed over
time, averaged over the heads, and cut into one stretch of time for each token, in order, so that the sum is largest.
The method follows Whisper's own word timestamps; the segmentation here has no numba and is a plain dynamic programme.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

_SMOOTHING = 7
_AT_ONCE = 3
"""A token may share its 20 ms with up to so many before it."""


def relevance(attention: torch.Tensor, positions: int) -> np.ndarray:
    """Attention [heads, tokens, at least ``positions``] to one score [tokens, positions] of the sound."""
    heads = attention[:, :, :positions]
    deviation, mean = torch.std_mean(heads, dim=1, keepdim=True, correction=0)
    normal = (heads - mean) / (deviation + 1e-6)
    if positions > _SMOOTHING // 2:
        padded = functional.pad(normal, (_SMOOTHING // 2, _SMOOTHING // 2), mode="reflect")
        normal = padded.unfold(-1, _SMOOTHING, 1).median(-1).values
    return normal.mean(0).numpy(force=True)


def starts(scores: np.ndarray) -> np.ndarray:
    """Scores [tokens, positions] to the position where each token's stretch begins (never before the last one's)."""
    tokens, positions = scores.shape
    best = np.full(tokens, -np.inf)
    best[:_AT_ONCE] = np.cumsum(scores[:_AT_ONCE, 0])
    steps = np.zeros((positions, tokens), dtype=np.int8)
    for position in range(1, positions):
        column = scores[:, position]
        gained = np.cumsum(column)
        options = np.full((_AT_ONCE + 1, tokens), -np.inf)
        options[0] = best + column
        for skip in range(1, min(_AT_ONCE + 1, tokens)):
            options[skip, skip:] = best[:-skip] + gained[skip:] - gained[:-skip]
        steps[position] = options.argmax(0)
        best = options.max(0)
    return _trace(steps, tokens)


def _trace(steps: np.ndarray, tokens: int) -> np.ndarray:
    """Walk the choices back from the last token at the last position."""
    begin = np.zeros(tokens, dtype=np.int64)
    token = tokens - 1
    for position in range(len(steps) - 1, 0, -1):
        step = int(steps[position, token])
        for passed in range(token, token - step, -1):
            begin[passed] = position
        token -= step
        if token == 0:
            break
    return begin
