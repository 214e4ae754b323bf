"""Weights of a Whisper folder under one set of names, whichever program wrote the folder.

Two layouts are read: CTranslate2's (``model.bin``) and transformers' (``model.safetensors``, whole or in shards). The
names used here: ``encoder.conv1``, ``encoder.positions``, ``encoder.layers.3.self.qkv``, ``decoder.layers.0.cross.kv``,
``decoder.layers.0.ffn.up``, ``decoder.norm``, ``decoder.embedding`` and so on, each with ``.weight`` and ``.bias``
(positions and embedding have a weight only). Attention projections that share an input come fused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from sayso.engine.errors import EngineError
from sayso.engine.modules import ctranslate2
from sayso.engine.modules.whisper_shape import Shape, alignment_heads, shape_from_config

_BIN = "model.bin"
_SAFETENSORS = "model.safetensors"
_INDEX = "model.safetensors.index.json"


class Weights(Protocol):
    """A folder's weights; ``tensor`` gives a new tensor of the wanted type, made on each call."""

    shape: Shape

    def tensor(self, name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor: ...


def open_weights(folder: Path, parts: Sequence[Path] = ()) -> Weights:
    """The weights of a folder in either layout, or of the ``parts`` that its ``model.bin`` was cut into.

    Raises EngineError ``model_*`` with what is wrong with it.
    """
    if parts or (folder / _BIN).is_file():
        return CTranslate2Weights(folder, parts)
    if (folder / _SAFETENSORS).is_file() or (folder / _INDEX).is_file():
        return TransformersWeights(folder)
    raise EngineError(
        "model_not_found", f"{folder} holds no Whisper model: there is neither {_BIN} nor {_SAFETENSORS} in it."
    )


class CTranslate2Weights:
    """Weights as CTranslate2 stores them, in any of its types."""

    def __init__(self, folder: Path, parts: Sequence[Path] = ()) -> None:
        self._variables = ctranslate2.read(*(parts or (folder / _BIN,)))
        if self._variables.specification != "WhisperSpec":
            raise EngineError(
                "model_unsupported", f"{folder} holds a {self._variables.specification}, which is no Whisper model."
            )
        self.shape = self._shape(_json(folder / "config.json"))

    def tensor(self, name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        path = _ctranslate2_name(name)
        if path not in self._variables:
            raise EngineError("model_damaged", f"The model's file has no variable {path}.")
        stored = self._variables.values[path]
        if stored.dtype == np.float16 and dtype == torch.float16:
            return torch.from_numpy(stored.copy())
        return torch.from_numpy(self._variables.float32(path)).to(dtype)

    def _shape(self, config: dict[str, Any]) -> Shape:
        values = self._variables
        width, bands, _ = values.values["encoder/conv1/weight"].shape
        layers = {side: _count(values, side) for side in ("encoder", "decoder")}
        heads = values.scalar("decoder/num_heads")
        return Shape(
            width=width,
            encoder_layers=layers["encoder"],
            decoder_layers=layers["decoder"],
            encoder_heads=values.scalar("encoder/num_heads"),
            decoder_heads=heads,
            mel_bands=bands,
            vocabulary=len(values.values["decoder/embeddings/weight"]),
            max_tokens=len(values.values["decoder/position_encodings/encodings"]),
            alignment_heads=alignment_heads(config, layers["decoder"], heads),
            suppressed=tuple(config.get("suppress_ids", ())),
            suppressed_first=tuple(config.get("suppress_ids_begin", ())),
        )


class TransformersWeights:
    """Weights as transformers stores them in safetensors files."""

    def __init__(self, folder: Path) -> None:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError as error:
            raise EngineError(
                "extra_missing", "Reading safetensors files needs one more package: pip install 'sayso[hub]'."
            ) from error
        config = _json(folder / "config.json")
        if config.get("model_type") != "whisper":
            raise EngineError("model_unsupported", f"{folder} is no Whisper model: {config.get('model_type')!r}.")
        names = [_SAFETENSORS]
        if (folder / _INDEX).is_file():
            names = sorted(set(_json(folder / _INDEX)["weight_map"].values()))
        self._files = {}
        for name in names:
            try:
                file = safe_open(folder / name, framework="pt")
            except (OSError, SafetensorError) as error:
                raise EngineError(
                    "model_truncated", f"{folder / name} is cut off or damaged ({error}). Download the model again."
                ) from error
            self._files.update(dict.fromkeys(file.keys(), file))
        self.shape = shape_from_config(config, _json(folder / "generation_config.json", optional=True))

    def tensor(self, name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        parts = [self._read(part, name) for part in _transformers_names(name)]
        if len({part.shape[1:] for part in parts}) > 1:
            shapes = ", ".join(str(tuple(part.shape)) for part in parts)
            raise EngineError("model_damaged", f"The tensors that make up tensor {name} do not fit together: {shapes}.")
        return torch.cat(parts).to(dtype) if len(parts) > 1 else parts[0].to(dtype)

    def _read(self, path: str, name: str) -> torch.Tensor:
        if path in self._files:
            return self._files[path].get_tensor(path)
        if path.endswith("k_proj.bias"):
            return torch.zeros(self.shape.width)
        raise EngineError("model_damaged", f"The model's files have no tensor {path} (for {name}).")


def _json(path: Path, optional: bool = False) -> dict[str, Any]:
    if optional and not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise EngineError("model_damaged", f"{path} is missing or cannot be read ({error}).") from error


def _count(variables: ctranslate2.Variables, side: str) -> int:
    return len({name.split("/")[1] for name in variables.values if name.startswith(f"{side}/layer_") and "ffn" in name})


_CTRANSLATE2_PARTS = {
    "self.qkv": "self_attention/linear_0",
    "self.out": "self_attention/linear_1",
    "self.norm": "self_attention/layer_norm",
    "cross.q": "attention/linear_0",
    "cross.kv": "attention/linear_1",
    "cross.out": "attention/linear_2",
    "cross.norm": "attention/layer_norm",
    "ffn.up": "ffn/linear_0",
    "ffn.down": "ffn/linear_1",
    "ffn.norm": "ffn/layer_norm",
}
_TRANSFORMERS_PARTS = {
    "self.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self.out": ("self_attn.out_proj",),
    "self.norm": ("self_attn_layer_norm",),
    "cross.q": ("encoder_attn.q_proj",),
    "cross.kv": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "cross.out": ("encoder_attn.out_proj",),
    "cross.norm": ("encoder_attn_layer_norm",),
    "ffn.up": ("fc1",),
    "ffn.down": ("fc2",),
    "ffn.norm": ("final_layer_norm",),
}


def _ctranslate2_name(name: str) -> str:
    special = {"decoder.embedding.weight": "decoder/embeddings/weight"}
    for side in ("encoder", "decoder"):
        special[f"{side}.positions.weight"] = f"{side}/position_encodings/encodings"
    if name in special:
        return special[name]
    side, *middle, kind = name.split(".")
    if middle[0] == "layers":
        path = f"{side}/layer_{middle[1]}/{_CTRANSLATE2_PARTS['.'.join(middle[2:])]}"
    else:
        path = f"{side}/{'layer_norm' if middle[0] == 'norm' else middle[0]}"
    norm = path.endswith("layer_norm")
    return f"{path}/{'gamma' if norm and kind == 'weight' else 'beta' if norm else kind}"


def _transformers_names(name: str) -> list[str]:
    side, *middle, kind = name.split(".")
    if middle[0] == "layers":
        parts = _TRANSFORMERS_PARTS[".".join(middle[2:])]
        return [f"model.{side}.layers.{middle[1]}.{part}.{kind}" for part in parts]
    renamed = {"positions": "embed_positions", "embedding": "embed_tokens", "norm": "layer_norm"}
    return [f"model.{side}.{renamed.get(middle[0], middle[0])}.{kind}"]
