"""Shape and vocabulary facts of one Whisper model, read from a CTranslate2 or a transformers folder."""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS_A_SECOND = 50
MAX_POSITIONS = 1500
"""Encoder positions of Whisper's 30 s window, 20 ms each."""


@dataclass(frozen=True)
class Shape:
    """Sizes of the network; ``alignment_heads`` are (decoder layer, head) whose cross-attention follows the sound."""

    width: int
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    mel_bands: int
    vocabulary: int
    max_tokens: int
    alignment_heads: tuple[tuple[int, int], ...]
    suppressed: tuple[int, ...]
    """Tokens that are never text: signs, music, speaker marks."""
    suppressed_first: tuple[int, ...]
    """Tokens that may not come first: a blank, and the end."""


def default_alignment_heads(layers: int, heads: int) -> tuple[tuple[int, int], ...]:
    """Every head of the upper half, as in Whisper's own code, for models that name none."""
    return tuple((layer, head) for layer in range(layers // 2, layers) for head in range(heads))
