"""Sizes of a causal text model in transformers' layout, read from ``config.json``: Llama, Mistral, Qwen2 and Qwen3.

Pure: no torch. The families share one network; what tells them apart is written down here as plain facts (biases,
norms of queries and keys, windows), so that the network asks for facts and never for a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.engine.errors import EngineError

CONFIG = "config.json"
GENERATION = "generation_config.json"
FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
ROPE_KINDS = ("default", "linear", "llama3", "yarn")
_DEFAULT_THETA = 10_000.0


@dataclass(frozen=True)
class RopeShape:
    """How positions are turned: a kind of ``ROPE_KINDS`` and what it needs. Names are transformers'."""

    kind: str
    theta: float
    factor: float = 1.0
    original_length: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    attention_factor: float | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float = 0.0
    mscale_all_dim: float = 0.0
    truncate: bool = True


@dataclass(frozen=True)
class CausalShape:
    """The whole model."""

    family: str
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    inner: int
    vocabulary: int
    epsilon: float
    windows: tuple[int | None, ...]
    """For each layer the positions that a query sees, itself included; None sees all."""
    rope: RopeShape
    max_length: int
    eos_ids: frozenset[int]
    tied: bool
    """The head has the embedding's weights."""
    qkv_bias: bool
    out_bias: bool
    feed_forward_bias: bool
    head_norms: bool
    """Queries and keys are normalised for each head."""

    @property
    def window(self) -> int | None:
        """Positions that a query of the layer that sees most sees; None where one sees all."""
        known = [window for window in self.windows if window is not None]
        return max(known) if len(known) == self.layers else None

    @property
    def grouped(self) -> int:
        """Query heads that share one key head."""
        return self.heads // self.kv_heads


def read_shape(folder: Path) -> CausalShape:
    """The sizes of the model in ``folder``.

    Raises EngineError ``model_not_found``, ``model_damaged``, or ``model_unsupported`` for what this engine lacks.
    """
    config = _read(folder / CONFIG)
    generation = _read(folder / GENERATION) if (folder / GENERATION).is_file() else {}
    try:
        shape = shape_of(config, generation)
        _check(shape)
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise EngineError("model_damaged", f"{folder / CONFIG} cannot be used: {error!r}.") from error
    return shape


def shape_of(config: Mapping[str, Any], generation: Mapping[str, Any]) -> CausalShape:
    """The sizes that a ``config.json`` and a ``generation_config.json`` describe; raises as ``read_shape``."""
    family = config["model_type"]
    if family not in FAMILIES:
        raise _unsupported(f"the kind {family!r}; this engine runs {', '.join(FAMILIES)}")
    activation = config.get("hidden_act", "silu")
    if activation not in ("silu", "swish"):
        raise _unsupported(f"the activation {activation!r}; this engine runs silu")
    if config.get("quantization_config"):
        method = config["quantization_config"].get("quant_method", "unnamed")
        raise _unsupported(f"weights of the quantisation {method!r}; take the model as it was before quantisation")
    width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    layers = int(config["num_hidden_layers"])
    bias = bool(config.get("attention_bias", False)) and family in ("llama", "qwen3")
    rope = _rope(config)
    return CausalShape(
        family=family,
        width=width,
        layers=layers,
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_width=int(config.get("head_dim") or (128 if family == "qwen3" else width // heads)),
        inner=int(config["intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        epsilon=float(config.get("rms_norm_eps", 1e-6)),
        windows=_windows(family, config, layers),
        rope=rope,
        max_length=_max_length(config, rope),
        eos_ids=_eos_ids(config, generation),
        tied=bool(config.get("tie_word_embeddings", False)),
        qkv_bias=bias or family == "qwen2",
        out_bias=bias,
        feed_forward_bias=bool(config.get("mlp_bias", False)) and family == "llama",
        head_norms=family == "qwen3",
    )


def _windows(family: str, config: Mapping[str, Any], layers: int) -> tuple[int | None, ...]:
    # Files of Mistral models always say ``sliding_window``; transformers' own default for one left out is 4096.
    window = config.get("sliding_window", 4096)
    window = int(window) if window is not None else None
    if family == "llama":
        return (None,) * layers
    if family == "mistral":
        return (window,) * layers
    if not config.get("use_sliding_window", False):
        window = None
    first = int(config.get("max_window_layers", 28))
    kinds = config.get("layer_types") or [
        "full_attention" if window is None or at < first else "sliding_attention" for at in range(layers)
    ]
    for kind in kinds:
        if kind not in ("full_attention", "sliding_attention"):
            raise _unsupported(f"layers of the type {kind!r}")
    if len(kinds) != layers:
        raise ValueError(f"layer_types names {len(kinds)} layers of {layers}")
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)


def _rope(config: Mapping[str, Any]) -> RopeShape:
    """From ``rope_parameters``, or from ``rope_theta`` and ``rope_scaling`` as older files have it."""
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = given.get("rope_type") or given.get("type") or "default"
    if kind not in ROPE_KINDS:
        raise _unsupported(f"rotary positions of the type {kind!r}; this engine runs {', '.join(ROPE_KINDS)}")
    if float(given.get("partial_rotary_factor") or config.get("partial_rotary_factor") or 1.0) != 1.0:
        raise _unsupported("rotary positions of only a part of each head")
    theta = float(given.get("rope_theta") or config.get("rope_theta") or _DEFAULT_THETA)
    if kind == "default":
        return RopeShape(kind, theta)
    longest = int(config.get("max_position_embeddings", 0))
    original = int(given.get("original_max_position_embeddings") or longest)
    factor = given.get("factor")
    factor = float(factor) if factor is not None else longest / original
    attention = given.get("attention_factor")
    return RopeShape(
        kind,
        theta,
        factor,
        original,
        low_freq_factor=float(given["low_freq_factor"]) if kind == "llama3" else 1.0,
        high_freq_factor=float(given["high_freq_factor"]) if kind == "llama3" else 4.0,
        attention_factor=float(attention) if attention is not None else None,
        beta_fast=float(given.get("beta_fast") or 32),
        beta_slow=float(given.get("beta_slow") or 1),
        mscale=float(given.get("mscale") or 0),
        mscale_all_dim=float(given.get("mscale_all_dim") or 0),
        truncate=bool(given.get("truncate", True)),
    )


def _max_length(config: Mapping[str, Any], rope: RopeShape) -> int:
    stated = int(config["max_position_embeddings"])
    # Files of models that yarn makes longer often state the length before that.
    return max(stated, int(rope.factor * rope.original_length)) if rope.kind == "yarn" else stated


def _eos_ids(config: Mapping[str, Any], generation: Mapping[str, Any]) -> frozenset[int]:
    found = generation.get("eos_token_id", config.get("eos_token_id"))
    if found is None:
        return frozenset()
    return frozenset(int(token) for token in (found if isinstance(found, list) else [found]))


def _check(shape: CausalShape) -> None:
    sizes = (shape.width, shape.layers, shape.heads, shape.kv_heads, shape.head_width, shape.inner, shape.vocabulary)
    if min(*sizes, shape.max_length) < 1 or any(window is not None and window < 1 for window in shape.windows):
        raise ValueError("a size is not positive")
    if shape.heads % shape.kv_heads or shape.head_width % 2:
        raise ValueError(f"{shape.heads} heads for {shape.kv_heads}, of width {shape.head_width}")
    if shape.rope.theta <= 0 or shape.rope.factor <= 0:
        raise ValueError("rotary positions need a positive base and factor")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        read = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise EngineError("model_not_found", f"{path} is missing: fetch the model again.") from error
    except (OSError, ValueError) as error:
        raise EngineError("model_damaged", f"{path} cannot be read: {error!r}.") from error
    if not isinstance(read, dict):
        raise EngineError("model_damaged", f"{path} holds no settings.")
    return read


def _unsupported(what: str) -> EngineError:
    return EngineError("model_unsupported", f"The model has {what}.")
