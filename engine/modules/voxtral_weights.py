"""Weights of a Voxtral Realtime folder under one set of names, from either layout.

Read are transformers' layout (``model.safetensors``, whole or in shards) and the original one
(``consolidated.safetensors``). The names used are transformers', without ``model.``: ``audio_tower.layers.0.self_attn.
q_proj.weight``, ``language_model.layers.0.mlp.up_proj.weight`` and so on. The original layout turns neighbouring
dimensions together, transformers' one dimension ``i`` with ``i + width / 2``: query and key rows are reordered here, so
that the network knows the second way only.
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor

from sayso.engine.modules.stored_tensors import INDEX, WHOLE, StoredTensors, stored_files
from sayso.engine.modules.voxtral_shape import StackShape, VoxtralShape

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
        self._shape = shape
        self._original = not (folder / WHOLE).is_file() and not (folder / INDEX).is_file()
        paths = [folder / ORIGINAL] if self._original else stored_files(folder)
        self._stored = StoredTensors(folder, paths, lambda name: _renamed(name, self._original))

    def __contains__(self, name: str) -> bool:
        return name in self._stored

    @property
    def dtype(self) -> torch.dtype:
        """The type in which most of the weights are stored."""
        return self.tensor("audio_tower.norm.weight", (self._shape.encoder.width,)).dtype

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor as it is stored. Raises EngineError ``model_damaged`` when it is missing or of another shape."""
        values = self._stored.tensor(name, shape)
        return _split_half(name, values, self._shape) if self._original else values


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
