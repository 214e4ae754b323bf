"""A tiny Voxtral Realtime with random weights, made by our own code: real files, nonsense text, quick on one core.

``python tests/tiny_voxtral.py FOLDER`` makes a folder that ``sayso serve --model FOLDER`` serves. Weights are scaled
up, because with the usual small ones nearly every position would give the same token.
"""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

SAMPLE_RATE = 16_000
SPECIAL = 64
LEFT_PAD = 32


@dataclass(frozen=True)
class Sizes:
    """Sizes of both stacks; windows small enough to roll over many times in a few seconds."""

    vocabulary: int = 512
    bands: int = 128
    encoder_width: int = 64
    encoder_layers: int = 3
    encoder_heads: int = 4
    encoder_head_width: int = 24
    encoder_inner: int = 128
    encoder_window: int = 40
    width: int = 96
    layers: int = 3
    heads: int = 6
    kv_heads: int = 2
    head_width: int = 16
    inner: int = 192
    window: int = 64
    condition: int = 32


TINY = Sizes()


def build(
    folder: Path,
    sizes: Sizes = TINY,
    *,
    seed: int = 0,
    delay_ms: int = 480,
    scale: float = 0.16,
    original: bool = False,
) -> Path:
    """Write config, weights and vocabulary into ``folder``, in transformers' layout or the original one."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = random_weights(sizes, seed, scale)
    write_tekken(folder / "tekken.json", sizes.vocabulary, delay_ms)
    if original:
        save_file(to_original(weights, sizes), folder / "consolidated.safetensors")
        (folder / "params.json").write_text(json.dumps(params(sizes)))
    else:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config(sizes)))
    return folder


def random_weights(sizes: Sizes, seed: int, scale: float) -> dict[str, torch.Tensor]:
    """All tensors under transformers' names."""
    random = torch.Generator().manual_seed(seed)
    shapes = tensor_shapes(sizes)
    made = {}
    for name, shape in shapes.items():
        if len(shape) > 1:
            made[name] = torch.randn(shape, generator=random) * scale
        elif name.endswith(".bias"):
            made[name] = torch.randn(shape, generator=random) * 0.1
        else:
            made[name] = 1 + torch.randn(shape, generator=random) * 0.1
    return made


def tensor_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    width, attention = sizes.encoder_width, sizes.encoder_heads * sizes.encoder_head_width
    shapes: dict[str, tuple[int, ...]] = {
        "audio_tower.embedder.conv1.weight": (width, sizes.bands, 3),
        "audio_tower.embedder.conv1.bias": (width,),
        "audio_tower.embedder.conv2.weight": (width, width, 3),
        "audio_tower.embedder.conv2.bias": (width,),
        "audio_tower.norm.weight": (width,),
        "multi_modal_projector.linear_1.weight": (sizes.width, 4 * width),
        "multi_modal_projector.linear_2.weight": (sizes.width, sizes.width),
        "language_model.model.embed_tokens.weight": (sizes.vocabulary, sizes.width),
        "language_model.model.norm.weight": (sizes.width,),
    }
    for index in range(sizes.encoder_layers):
        name = f"audio_tower.layers.{index}"
        shapes |= _layer(name, width, attention, attention, sizes.encoder_inner)
        shapes |= {f"{name}.self_attn_layer_norm.weight": (width,), f"{name}.final_layer_norm.weight": (width,)}
        shapes |= {f"{name}.self_attn.{part}_proj.bias": (attention,) for part in "qv"}
        shapes |= {f"{name}.self_attn.o_proj.bias": (width,), f"{name}.mlp.down_proj.bias": (width,)}
    for index in range(sizes.layers):
        name = f"language_model.model.layers.{index}"
        queries, keys = sizes.heads * sizes.head_width, sizes.kv_heads * sizes.head_width
        shapes |= _layer(name, sizes.width, queries, keys, sizes.inner)
        shapes |= {
            f"{name}.input_layernorm.weight": (sizes.width,),
            f"{name}.post_attention_layernorm.weight": (sizes.width,),
            f"{name}.ada_rms_norm.linear1.weight": (sizes.condition, sizes.width),
            f"{name}.ada_rms_norm.linear2.weight": (sizes.width, sizes.condition),
        }
    return shapes


def _layer(name: str, width: int, queries: int, keys: int, inner: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{name}.self_attn.q_proj.weight": (queries, width),
        f"{name}.self_attn.k_proj.weight": (keys, width),
        f"{name}.self_attn.v_proj.weight": (keys, width),
        f"{name}.self_attn.o_proj.weight": (width, queries),
        f"{name}.mlp.gate_proj.weight": (inner, width),
        f"{name}.mlp.up_proj.weight": (inner, width),
        f"{name}.mlp.down_proj.weight": (width, inner),
    }


def config(sizes: Sizes) -> dict[str, object]:
    rope = {"rope_type": "default", "rope_theta": 1e6}
    return {
        "architectures": ["VoxtralRealtimeForConditionalGeneration"],
        "model_type": "voxtral_realtime",
        "dtype": "float32",
        "audio_config": {
            "model_type": "voxtral_realtime_encoder",
            "vocab_size": sizes.vocabulary,
            "hidden_size": sizes.encoder_width,
            "intermediate_size": sizes.encoder_inner,
            "num_hidden_layers": sizes.encoder_layers,
            "num_attention_heads": sizes.encoder_heads,
            "head_dim": sizes.encoder_head_width,
            "num_mel_bins": sizes.bands,
            "rms_norm_eps": 1e-5,
            "rope_parameters": rope,
            "sliding_window": sizes.encoder_window,
        },
        "text_config": {
            "model_type": "voxtral_realtime_text",
            "vocab_size": sizes.vocabulary,
            "hidden_size": sizes.width,
            "intermediate_size": sizes.inner,
            "num_hidden_layers": sizes.layers,
            "num_attention_heads": sizes.heads,
            "num_key_value_heads": sizes.kv_heads,
            "head_dim": sizes.head_width,
            "rms_norm_eps": 1e-5,
            "rope_parameters": rope,
            "sliding_window": sizes.window,
            "tie_word_embeddings": True,
        },
        "tie_word_embeddings": True,
    }


def params(sizes: Sizes) -> dict[str, object]:
    encoder = {
        "audio_encoding_args": {
            "sampling_rate": SAMPLE_RATE,
            "frame_rate": 12.5,
            "num_mel_bins": sizes.bands,
            "hop_length": 160,
            "window_size": 400,
            "chunk_length_s": None,
            "global_log_mel_max": 1.5,
        },
        "dim": sizes.encoder_width,
        "n_layers": sizes.encoder_layers,
        "head_dim": sizes.encoder_head_width,
        "hidden_dim": sizes.encoder_inner,
        "n_heads": sizes.encoder_heads,
        "n_kv_heads": sizes.encoder_heads,
        "vocab_size": sizes.vocabulary,
        "use_biases": True,
        "rope_theta": 1e6,
        "causal": True,
        "norm_eps": 1e-5,
        "pos_embed": "rope",
        "ffn_type": "swiglu",
        "norm_type": "rms_norm",
        "sliding_window": sizes.encoder_window,
    }
    return {
        "dim": sizes.width,
        "n_layers": sizes.layers,
        "head_dim": sizes.head_width,
        "hidden_dim": sizes.inner,
        "n_heads": sizes.heads,
        "n_kv_heads": sizes.kv_heads,
        "use_biases": False,
        "causal": True,
        "rope_theta": 1e6,
        "norm_eps": 1e-5,
        "vocab_size": sizes.vocabulary,
        "tied_embeddings": True,
        "sliding_window": sizes.window,
        "ada_rms_norm_t_cond": True,
        "ada_rms_norm_t_cond_dim": sizes.condition,
        "multimodal": {
            "whisper_model_args": {"encoder_args": encoder, "downsample_args": {"downsample_factor": 4}},
        },
    }


def to_original(weights: dict[str, torch.Tensor], sizes: Sizes) -> dict[str, torch.Tensor]:
    """The same weights under the original names, with query and key rows in neighbouring pairs."""
    return {_original_name(name): _interleaved(name, value, sizes) for name, value in weights.items()}


def _original_name(name: str) -> str:
    module = "mm_streams_embeddings.embedding_module."
    fixed = {
        "language_model.model.embed_tokens.weight": f"{module}tok_embeddings.weight",
        "language_model.model.norm.weight": "norm.weight",
        "multi_modal_projector.linear_1.weight": f"{module}audio_language_projection.0.weight",
        "multi_modal_projector.linear_2.weight": f"{module}audio_language_projection.2.weight",
        "audio_tower.norm.weight": f"{module}whisper_encoder.transformer.norm.weight",
    }
    if name in fixed:
        return fixed[name]
    name = name.replace("audio_tower.embedder.conv1.", f"{module}whisper_encoder.conv_layers.0.conv.")
    name = name.replace("audio_tower.embedder.conv2.", f"{module}whisper_encoder.conv_layers.1.conv.")
    name = name.replace("audio_tower.layers.", f"{module}whisper_encoder.transformer.layers.")
    name = name.replace("language_model.model.layers.", "layers.")
    for ours, theirs in (
        ("self_attn_layer_norm", "attention_norm"),
        ("final_layer_norm", "ffn_norm"),
        ("input_layernorm", "attention_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.down_proj", "feed_forward.w2"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("ada_rms_norm.linear1", "ada_rms_norm_t_cond.0"),
        ("ada_rms_norm.linear2", "ada_rms_norm_t_cond.2"),
        *((f"self_attn.{part}_proj", f"attention.w{part}") for part in "qkvo"),
    ):
        name = name.replace(ours, theirs)
    return name


def _interleaved(name: str, value: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    if ".q_proj." not in name and ".k_proj." not in name:
        return value
    encoder = name.startswith("audio_tower.")
    heads = sizes.encoder_heads if encoder else sizes.heads if ".q_proj." in name else sizes.kv_heads
    width = sizes.encoder_head_width if encoder else sizes.head_width
    halves = value.view(heads, 2, width // 2, *value.shape[1:])
    return halves.transpose(1, 2).reshape(value.shape).contiguous()


def write_tekken(path: Path, vocabulary: int, delay_ms: int = 480) -> None:
    """A small vocabulary: all single bytes, then pairs of letters, some with a space before them."""
    names = {0: "<unk>", 1: "<s>", 2: "</s>", 11: "<pad>", 24: "[AUDIO]", 25: "[BEGIN_AUDIO]"}
    names |= {20: "[ARGS]", 21: "[CALL_ID]", 32: "[STREAMING_PAD]", 33: "[STREAMING_WORD]"}
    names |= {3: "[INST]", 4: "[/INST]", 5: "[AVAILABLE_TOOLS]", 6: "[/AVAILABLE_TOOLS]", 7: "[TOOL_RESULTS]"}
    names |= {8: "[/TOOL_RESULTS]", 9: "[TOOL_CALLS]", 10: "[IMG]", 12: "[IMG_BREAK]", 13: "[IMG_END]"}
    names |= {14: "[PREFIX]", 15: "[MIDDLE]", 16: "[SUFFIX]", 17: "[SYSTEM_PROMPT]", 18: "[/SYSTEM_PROMPT]"}
    names |= {19: "[TOOL_CONTENT]", 22: "[TRANSCRIBE]"}
    special = [
        {"rank": rank, "token_str": names.get(rank, f"<SPECIAL_{rank}>"), "is_control": True} for rank in range(34)
    ]
    letters = "abcdefghijklmnopqrstuvwxyz"
    merged = [f"{space}{a}{b}" for space in (" ", "") for a in letters for b in letters]
    merged += [f"{space}{a}{b}{c}" for space in (" ", "") for a in letters for b in letters for c in letters]
    pieces = [bytes([value]) for value in range(256)] + [text.encode() for text in merged]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(piece).decode(), "token_str": None}
        for rank, piece in enumerate(pieces[: vocabulary - SPECIAL])
    ]
    document = {
        "config": {
            "pattern": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            "num_vocab_tokens": vocabulary - SPECIAL,
            "default_vocab_size": vocabulary,
            "default_num_special_tokens": SPECIAL,
            "version": "v13",
        },
        "vocab": vocab,
        "special_tokens": special,
        "audio": {
            "sampling_rate": SAMPLE_RATE,
            "frame_rate": 12.5,
            "chunk_length_s": None,
            "audio_encoding_config": {"num_mel_bins": 128, "hop_length": 160, "window_size": 400},
            "transcription_format": "streaming",
            "transcription_delay_ms": delay_ms,
            "streaming_look_ahead_ms": 2.5,
            "streaming_look_back_ms": 52.5,
            "streaming_n_left_pad_tokens": LEFT_PAD,
        },
    }
    path.write_text(json.dumps(document))


def warbling(seconds: float, seed: int = 1) -> np.ndarray:
    """Float32 samples on the 16-bit grid: tones that glide and swell, with some noise."""
    random = np.random.default_rng(seed)
    t = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    sound = 0.02 * random.standard_normal(t.shape)
    for _ in range(5):
        glide = 30 * np.sin(2 * np.pi * random.uniform(0.3, 3) * t)
        swell = 0.5 + 0.5 * np.sin(2 * np.pi * random.uniform(0.2, 4) * t)
        sound += 0.1 * swell * np.sin(2 * np.pi * (random.uniform(90, 3000) * t + glide))
    return (np.round(sound * 32768).clip(-32768, 32767) / 32768).astype(np.float32)


ROOMY = replace(TINY, encoder_heads=8, encoder_head_width=32, encoder_layers=8, encoder_window=750, window=512)
"""Tiny, and yet a session of a few seconds holds megabytes: enough in each head that half a page more is little."""

SMALL = replace(
    TINY,
    vocabulary=32_064,
    encoder_width=384,
    encoder_layers=6,
    encoder_heads=6,
    encoder_head_width=64,
    encoder_inner=1536,
    encoder_window=750,
    width=512,
    layers=6,
    heads=8,
    kv_heads=4,
    head_width=64,
    inner=1536,
    window=1024,
)
"""The sizes at which the bench compares engines."""

PUBLISHED = replace(
    TINY,
    vocabulary=131_072,
    encoder_width=1280,
    encoder_layers=32,
    encoder_heads=32,
    encoder_head_width=64,
    encoder_inner=5120,
    encoder_window=750,
    width=3072,
    layers=26,
    heads=32,
    kv_heads=8,
    head_width=128,
    inner=9216,
    window=8192,
)
"""The sizes of Voxtral-Mini-4B-Realtime-2602."""


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    print(f"made {sys.argv[1]}")
