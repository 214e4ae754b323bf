"""A Whisper whose file lacks a tensor, or has one of another shape, is refused by the tensor's name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from sayso.engine.errors import EngineError
from sayso.engine.modules.whisper_network import Network, float_build
from sayso.engine.modules.whisper_weights import open_weights

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = transformers.WhisperConfig(
        vocab_size=60,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=40,
        decoder_ffn_dim=24,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
        decoder_start_token_id=1,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    place = tmp_path_factory.mktemp("whisper")
    transformers.WhisperForConditionalGeneration(config).save_pretrained(place)
    return place


def network(folder: Path) -> Network:
    return Network(float_build(open_weights(folder), torch.float32))


def changed(folder: Path, place: Path, name: str, value: torch.Tensor | None) -> Path:
    """A copy with one tensor replaced, or without it."""
    shutil.copytree(folder, place, dirs_exist_ok=True)
    weights = load_file(folder / "model.safetensors")
    assert name in weights
    del weights[name]
    if value is not None:
        weights[name] = value
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    return place


def test_every_tensor_of_a_sound_file_fits(folder: Path) -> None:
    assert network(folder).shape.width == 16


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("model.encoder.conv1.weight", (16, 128, 3)),
        ("model.encoder.embed_positions.weight", (750, 16)),
        ("model.encoder.layers.0.self_attn.q_proj.weight", (8, 16)),
        ("model.encoder.layers.0.self_attn.v_proj.weight", (16, 8)),
        ("model.encoder.layers.0.final_layer_norm.bias", (8,)),
        ("model.decoder.layers.0.fc1.weight", (24, 8)),
        ("model.decoder.layers.0.encoder_attn.v_proj.bias", (8,)),
        ("model.decoder.embed_tokens.weight", (59, 16)),
        ("model.decoder.layer_norm.weight", (16, 1)),
    ],
)
def test_a_missing_tensor_and_one_of_another_shape_are_named(
    folder: Path, tmp_path: Path, name: str, size: tuple[int, ...]
) -> None:
    for value in (None, torch.zeros(size)):
        with pytest.raises(EngineError, match=r"tensor (model|encoder|decoder)\.") as caught:
            network(changed(folder, tmp_path, name, value))
        assert caught.value.code == "model_damaged"
