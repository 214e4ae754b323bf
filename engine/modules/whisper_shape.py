"""Shape and vocabulary facts of one Whisper model, read from a CTranslate2 or a transformers folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.engine.errors import EngineError

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


def alignment_heads(config: Mapping[str, Any], layers: int, heads: int) -> tuple[tuple[int, int], ...]:
    """Those that a model's config names, else the default ones."""
    named = config.get("alignment_heads")
    return tuple((layer, head) for layer, head in named) if named else default_alignment_heads(layers, heads)


def shape_from_config(config: Mapping[str, Any], generation: Mapping[str, Any]) -> Shape:
    """The sizes that transformers' ``config.json`` tells, with the tokens of ``generation_config.json``.

    Raises EngineError ``model_damaged`` for a config that lacks one.
    """

    def tokens(name: str) -> tuple[int, ...]:
        return tuple(generation.get(name) or config.get(name) or ())

    try:
        return Shape(
            width=config["d_model"],
            encoder_layers=config["encoder_layers"],
            decoder_layers=config["decoder_layers"],
            encoder_heads=config["encoder_attention_heads"],
            decoder_heads=config["decoder_attention_heads"],
            mel_bands=config.get("num_mel_bins", 80),
            vocabulary=config["vocab_size"],
            max_tokens=config.get("max_target_positions", 448),
            alignment_heads=alignment_heads(generation, config["decoder_layers"], config["decoder_attention_heads"]),
            suppressed=tokens("suppress_tokens"),
            suppressed_first=tokens("begin_suppress_tokens"),
        )
    except KeyError as error:
        raise EngineError("model_damaged", f"The model's config.json does not tell its {error.args[0]}.") from error
