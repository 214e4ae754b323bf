"""Weights of a Voxtral Realtime folder under one set of names, from either layout.

Read are transformers' layout (``model.safetensors``, whole or in shards) and the original one
(``consolidated.safetensors``). The names used are transformers', without ``model.``: ``audio_tower.layers.0.self_attn.
q_proj.weight``, ``language_model.layers.0.mlp.up_proj.weight`` and so on. The original layout turns neighbouring
dimensions together, transformers' one dimension ``i`` with ``i + width / 2``: query and key rows are reordered here, so
that the network knows the second way only.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sayso.engine.errors import EngineError
from sayso.engine.modules.voxtral_shape import StackShape, VoxtralShape

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
ORIGINAL = "consolidated.safetensors"
EMBEDDING = "language_model.embed_tokens.weight"

_ENCODER = "mm_streams_embeddings.embedding_module.whisper_encoder."
_LAYER_NAMES = (
    (r"attention\.w([qkvo])\.", r"self_attn.\1_proj."),
    (r"feed_forward\.w1\.", "mlp.gate_proj."),
    (r"feed_forward\.w2\.", "mlp.down_proj."),
    (r"feed_forward\.w3\.", "mlp.up_proj."),
    (r"ada_rms_norm_t_cond\.0\.", "ada_rms_norm.linear1."),
    (r"ada_rms_norm_t_cond\.2\.", "ada_rms_norm.linear2."),
)
_ORIGINAL_NAMES = (
    (re.escape(_ENCODER) + r"conv_layers\.0\.(?:conv\.)?", "audio_tower.embedder.conv1."),
    (re.escape(_ENCODER) + r"conv_layers\.1\.(?:conv\.)?", "audio_tower.embedder.conv2."),
    (re.escape(_ENCODER) + r"transformer\.", "audio_tower."),
    (r"mm_streams_embeddings\.embedding_module\.audio_language_projection\.0\.", "multi_modal_projector.linear_1."),
    (r"mm_streams_embeddings\.embedding_module\.audio_language_projection\.2\.", "multi_modal_projector.linear_2."),
    (r"mm_streams_embeddings\.embedding_module\.tok_embeddings\.", "language_model.embed_tokens."),
    (r"tok_embeddings\.", "language_model.embed_tokens."),
    (r"(?=layers\.|norm\.)", "language_model."),
)
_NORM_NAMES = {
    "audio_tower.": (("attention_norm.", "self_attn_layer_norm."), ("ffn_norm.", "final_layer_norm.")),
    "language_model.": (("attention_norm.", "input_layernorm."), ("ffn_norm.", "post_attention_layernorm.")),
}


class VoxtralWeights:
    """The tensors of a folder; each call of ``tensor`` reads one from the file."""

    def __init__(self, folder: Path, shape: VoxtralShape) -> None:
        self._folder = folder
        self._shape = shape
        self._original = not (folder / WHOLE).is_file() and not (folder / INDEX).is_file()
        self._files: dict[Path, Any] = {}
        self._found: dict[str, tuple[Path, str]] = {}
        for path in self._paths():
            for stored in self._open(path).keys():  # noqa: SIM118 - no dictionary, it has only keys()
                self._found[_renamed(stored, self._original)] = (path, stored)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    @property
    def dtype(self) -> torch.dtype:
        """The type in which most of the weights are stored."""
        return self.tensor("audio_tower.norm.weight", (self._shape.encoder.width,)).dtype

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor as it is stored. Raises EngineError ``model_damaged`` when it is missing or of another shape."""
        if name not in self._found:
            raise EngineError("model_damaged", f"{self._folder} has no tensor {name}: fetch the model again.")
        path, stored = self._found[name]
        values: Tensor = self._open(path).get_tensor(stored)
        if tuple(values.shape) != shape:
            raise EngineError(
                "model_damaged",
                f"The tensor {stored} in {path} has the shape {tuple(values.shape)}, but its sizes say {shape}.",
            )
        return _split_half(name, values, self._shape) if self._original else values

    def _paths(self) -> list[Path]:
        index = self._folder / INDEX
        if self._original:
            names = [ORIGINAL]
        elif index.is_file():
            try:
                names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise EngineError("model_damaged", f"{index} cannot be read: {error!r}.") from error
        else:
            names = [WHOLE]
        for name in names:
            if not (self._folder / name).is_file():
                raise EngineError("model_not_found", f"{self._folder / name} is missing: fetch the model again.")
        return [self._folder / name for name in names]

    def _open(self, path: Path) -> Any:
        if path not in self._files:
            try:
                from safetensors import SafetensorError, safe_open
            except ImportError as error:
                raise EngineError(
                    "extra_missing", "Reading safetensors files needs one more package: pip install 'sayso[hub]'."
                ) from error
            try:
                self._files[path] = safe_open(path, framework="pt")
            except (SafetensorError, OSError) as error:
                raise EngineError("model_damaged", f"{path} is cut off or damaged: {error}.") from error
        return self._files[path]


def _renamed(name: str, original: bool) -> str:
    """The name used here for a stored one."""
    if not original:
        return name.removeprefix("model.").replace("language_model.model.", "language_model.", 1)
    for pattern, ours in _ORIGINAL_NAMES:
        renamed, count = re.subn(rf"^{pattern}", ours, name, count=1)
        if count:
            name = renamed
            break
    for pattern, ours in _LAYER_NAMES:
        name = re.sub(pattern, ours, name)
    for part, norms in _NORM_NAMES.items():
        if name.startswith(part):
            for theirs, ours in norms:
                name = name.replace(f".{theirs}", f".{ours}")
    return name


def _split_half(name: str, values: Tensor, shape: VoxtralShape) -> Tensor:
    """Reorder the rows of a query or key projection from neighbouring pairs to halves."""
    stack: StackShape = shape.encoder if name.startswith("audio_tower.") else shape.decoder
    if ".q_proj." in name:
        heads = stack.heads
    elif ".k_proj." in name:
        heads = stack.kv_heads
    else:
        return values
    pairs = values.unflatten(0, (heads, stack.head_width // 2, 2))
    return pairs.transpose(1, 2).reshape(values.shape)
