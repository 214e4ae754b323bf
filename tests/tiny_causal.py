"""Tiny causal text models with random weights, made by our own code: real folders in transformers' layout.

Weights are scaled up, because with the usual small ones nearly every position would give the same token.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file


@dataclass(frozen=True)
class TinyCausal:
    """What a model is made of; ``more`` goes into its config.json as it is."""

    family: str = "llama"
    vocabulary: int = 199
    width: int = 64
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 16
    inner: int = 96
    length: int = 4096
    tied: bool = False
    bias: bool = False
    """Biases where the family lets its config choose them."""
    seed: int = 0
    scale: float = 0.14
    more: dict[str, Any] = field(default_factory=dict)

    def with_config(self, **more: Any) -> TinyCausal:
        return replace(self, more={**self.more, **more})


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
FAMILIES = {
    "llama": TinyCausal(),
    "llama, tied, one head for all": TinyCausal(tied=True, kv_heads=1, seed=1),
    "llama, biases": TinyCausal(bias=True, seed=2),
    "llama 3": TinyCausal(seed=3).with_config(
        rope_theta=500_000.0, rope_scaling={**LLAMA3, "original_max_position_embeddings": 64}
    ),
    "llama, linear": TinyCausal(seed=4).with_config(rope_scaling={"type": "linear", "factor": 2.5}),
    "mistral": TinyCausal("mistral", seed=5).with_config(sliding_window=None),
    "mistral, window": TinyCausal("mistral", seed=6, head_width=24).with_config(sliding_window=21),
    "qwen2": TinyCausal("qwen2", seed=7, tied=True).with_config(rope_theta=1e6),
    "qwen2, yarn": TinyCausal("qwen2", seed=8).with_config(rope_theta=1e6, rope_scaling=YARN),
    "qwen2, some windows": TinyCausal("qwen2", seed=9).with_config(
        use_sliding_window=True, sliding_window=18, max_window_layers=1
    ),
    "qwen3": TinyCausal("qwen3", seed=10, tied=True, head_width=32).with_config(
        rope_parameters={"rope_type": "default", "rope_theta": 1e6}
    ),
    "qwen3, biases": TinyCausal("qwen3", seed=11, bias=True, heads=6, kv_heads=2),
}


def build(folder: Path, tiny: TinyCausal | None = None, *, shards: int = 1) -> Path:
    """Write config and weights into ``folder``, whole or in shards with an index."""
    tiny = tiny or TinyCausal()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(tiny)))
    weights = random_weights(tiny)
    if shards == 1:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
    names = {name: f"model-{at % shards + 1:05}-of-{shards:05}.safetensors" for at, name in enumerate(weights)}
    for file in set(names.values()):
        part = {name: value for name, value in weights.items() if names[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    return folder


def config(tiny: TinyCausal) -> dict[str, Any]:
    class_name = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}[tiny.family]
    found = {
        "architectures": [f"{class_name}ForCausalLM"],
        "model_type": tiny.family,
        "vocab_size": tiny.vocabulary,
        "hidden_size": tiny.width,
        "intermediate_size": tiny.inner,
        "num_hidden_layers": tiny.layers,
        "num_attention_heads": tiny.heads,
        "num_key_value_heads": tiny.kv_heads,
        "max_position_embeddings": tiny.length,
        "rms_norm_eps": 1e-6,
        "hidden_act": "silu",
        "tie_word_embeddings": tiny.tied,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "attention_bias": tiny.bias,
        "mlp_bias": tiny.bias,
        "dtype": "float32",
        **tiny.more,
    }
    # Qwen2 files do not say a head's width: it is the width of the model divided by the heads.
    return found if tiny.family == "qwen2" else {"head_dim": tiny.head_width, **found}


def random_weights(tiny: TinyCausal) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(tiny.seed)
    made = {}
    for name, shape in tensor_shapes(tiny).items():
        if len(shape) > 1:
            made[name] = torch.randn(shape, generator=random) * tiny.scale
        elif name.endswith(".bias"):
            made[name] = torch.randn(shape, generator=random) * 0.2
        else:
            made[name] = 1 + torch.randn(shape, generator=random) * 0.1
    if not tiny.tied:
        # A tied head would mostly answer with the token that it was given.
        made["model.embed_tokens.weight"] *= 4
    return made


def tensor_shapes(tiny: TinyCausal) -> dict[str, tuple[int, ...]]:
    width, queries, keys = tiny.width, tiny.heads * tiny.head_width, tiny.kv_heads * tiny.head_width
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (tiny.vocabulary, width),
        "model.norm.weight": (width,),
    }
    if not tiny.tied:
        shapes["lm_head.weight"] = (tiny.vocabulary, width)
    for layer in range(tiny.layers):
        name = f"model.layers.{layer}"
        outputs = {"q": queries, "k": keys, "v": keys}
        shapes |= {f"{name}.self_attn.{part}_proj.weight": (size, width) for part, size in outputs.items()}
        shapes |= {
            f"{name}.self_attn.o_proj.weight": (width, queries),
            f"{name}.mlp.gate_proj.weight": (tiny.inner, width),
            f"{name}.mlp.up_proj.weight": (tiny.inner, width),
            f"{name}.mlp.down_proj.weight": (width, tiny.inner),
            f"{name}.input_layernorm.weight": (width,),
            f"{name}.post_attention_layernorm.weight": (width,),
        }
        shapes |= _biases(tiny, name, outputs)
        if tiny.family == "qwen3":
            shapes |= {f"{name}.self_attn.{part}_norm.weight": (tiny.head_width,) for part in "qk"}
    return shapes


def _biases(tiny: TinyCausal, name: str, outputs: dict[str, int]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    if tiny.family == "qwen2" or tiny.bias:
        shapes |= {f"{name}.self_attn.{part}_proj.bias": (size,) for part, size in outputs.items()}
    if tiny.bias:
        shapes[f"{name}.self_attn.o_proj.bias"] = (tiny.width,)
    if tiny.bias and tiny.family == "llama":
        shapes |= {f"{name}.mlp.{part}_proj.bias": (tiny.inner,) for part in ("gate", "up")}
        shapes[f"{name}.mlp.down_proj.bias"] = (tiny.width,)
    return shapes
