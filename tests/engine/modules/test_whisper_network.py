"""The network against transformers' Whisper, on small random weights and on the packaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sayso.engine.modules import whisper_window as window
from sayso.engine.modules.log_mel import LogMel
from sayso.engine.modules.whisper_network import EDGE_POSITIONS, Cache, Network, Step, float_build
from sayso.engine.modules.whisper_weights import Weights, open_weights

transformers = pytest.importorskip("transformers")


def _random_model() -> Any:
    config = transformers.WhisperConfig(
        vocab_size=200,
        d_model=48,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=192,
        decoder_ffn_dim=192,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
        decoder_start_token_id=1,
        suppress_tokens=[3, 4],
        begin_suppress_tokens=[5],
    )
    model = transformers.WhisperForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.3 if "norm" not in name else 0.1
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale + ("norm.weight" in name))
    return model


@pytest.fixture(scope="module")
def random_model() -> Any:
    return _random_model()


@pytest.fixture(scope="module")
def random_weights(random_model: Any, tmp_path_factory: pytest.TempPathFactory) -> Weights:
    folder = tmp_path_factory.mktemp("random")
    random_model.save_pretrained(folder)
    return open_weights(folder)


def _network(weights: Weights) -> Network:
    return Network(float_build(weights, torch.float32)).eval()


def _full_states(network: Network, mel: torch.Tensor) -> torch.Tensor:
    return network.encoder(mel, torch.arange(1500), 1500, None)


def _logits_one_by_one(network: Network, states: torch.Tensor, tokens: torch.Tensor, first: int) -> torch.Tensor:
    """Logits of all tokens, the ``first`` ones fed at once and the rest one at a time."""
    cache = Cache(network.shape, len(tokens), tokens.shape[1], states)
    network.decoder.listen(states, None, cache)
    slots = torch.arange(tokens.shape[1]).expand(len(tokens), -1)
    causal = torch.ones(first, first, dtype=torch.bool).tril()
    hidden = [network.decoder(tokens[:, :first], cache, Step(slots[:, :first], first, causal, True))[0]]
    for at in range(first, tokens.shape[1]):
        step = Step(slots[:, at : at + 1], at + 1, None, True)
        hidden.append(network.decoder(tokens[:, at : at + 1], cache, step)[0])
    return network.decoder.logits(torch.cat(hidden, 1))


@torch.inference_mode()
def test_the_shape_comes_from_the_folder(random_weights: Weights) -> None:
    shape = random_weights.shape
    assert (shape.width, shape.encoder_layers, shape.decoder_layers, shape.vocabulary) == (48, 2, 3, 200)
    assert shape.suppressed == (3, 4)
    assert shape.suppressed_first == (5,)
    assert shape.alignment_heads == tuple((layer, head) for layer in (1, 2) for head in range(4))


@torch.inference_mode()
def test_states_and_logits_equal_those_of_transformers(random_model: Any, random_weights: Weights) -> None:
    network = _network(random_weights)
    generator = torch.Generator().manual_seed(1)
    mel = torch.randn(2, 80, 3000, generator=generator)
    tokens = torch.randint(0, 200, (2, 9), generator=generator)
    states = _full_states(network, mel)
    theirs = random_model(input_features=mel, decoder_input_ids=tokens)
    torch.testing.assert_close(states, theirs.encoder_last_hidden_state, atol=2e-3, rtol=1e-3)
    ours = _logits_one_by_one(network, states, tokens, first=4)
    torch.testing.assert_close(ours, theirs.logits, atol=5e-3, rtol=1e-3)


@torch.inference_mode()
def test_rows_of_unequal_length_do_not_see_each_other(random_weights: Weights) -> None:
    network = _network(random_weights)
    generator = torch.Generator().manual_seed(2)
    states = torch.randn(2, 40, 48, generator=generator)
    tokens = torch.randint(0, 200, (2, 6), generator=generator)
    cache = Cache(network.shape, 2, 8, states)
    network.decoder.listen(states, None, cache)
    slots = torch.arange(4).expand(2, -1)
    padded = tokens[:, :4].clone()
    padded[1, 2:] = 0
    network.decoder(padded, cache, Step(slots, 4, torch.ones(4, 4, dtype=torch.bool).tril(), True))
    places = torch.tensor([[4], [2]])
    mask = (torch.arange(5) <= places)[:, None, None]
    fed = torch.stack([tokens[0, 4:5], tokens[1, 2:3]])
    together = network.decoder(fed, cache, Step(places, 5, mask, False))[0]
    for row, length in ((0, 5), (1, 3)):
        alone = _logits_one_by_one(network, states[row : row + 1], tokens[row : row + 1, :length], first=length)
        torch.testing.assert_close(network.decoder.logits(together[row, -1]), alone[0, -1], atol=1e-4, rtol=1e-4)


def _as_transformers(weights: Weights) -> Any:
    """The packaged weights in transformers' model, through the names that it gives them."""
    from sayso.engine.modules.whisper_weights import _transformers_names

    shape = weights.shape
    config = transformers.WhisperConfig(
        vocab_size=shape.vocabulary,
        d_model=shape.width,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.encoder_heads,
        decoder_attention_heads=shape.decoder_heads,
        encoder_ffn_dim=4 * shape.width,
        decoder_ffn_dim=4 * shape.width,
    )
    model = transformers.WhisperForConditionalGeneration(config).eval()
    state = model.state_dict()
    for name in _names(weights):
        parts = _transformers_names(name)
        for path, piece in zip(parts, weights.tensor(name).chunk(len(parts)), strict=True):
            if path in state:
                state[path].copy_(piece)
            else:
                assert path.endswith("k_proj.bias")
                assert not piece.any()
    return model


def _names(weights: Weights) -> list[str]:
    kinds = ("self.norm", "self.qkv", "self.out", "ffn.norm", "ffn.up", "ffn.down")
    cross = ("cross.norm", "cross.q", "cross.kv", "cross.out")
    shape = weights.shape
    stems = ["encoder.conv1", "encoder.conv2", "encoder.norm", "decoder.norm"]
    stems += [f"encoder.layers.{layer}.{kind}" for layer in range(shape.encoder_layers) for kind in kinds]
    stems += [f"decoder.layers.{layer}.{kind}" for layer in range(shape.decoder_layers) for kind in (*kinds, *cross)]
    tables = ["encoder.positions", "decoder.positions", "decoder.embedding"]
    return [f"{stem}.{kind}" for stem in stems for kind in ("weight", "bias")] + [f"{name}.weight" for name in tables]


@torch.inference_mode()
def test_the_packaged_weights_give_the_logits_of_transformers(tiny_folder: Path, beckett: np.ndarray) -> None:
    weights = open_weights(tiny_folder)
    oracle, network = _as_transformers(weights), _network(weights)
    samples = torch.zeros(1, 480_000)
    samples[0, : len(beckett)] = torch.from_numpy(beckett)
    mel = LogMel(80)(samples)
    tokens = torch.tensor([[50257, 50362, 10776, 3088, 11, 1683, 4054, 13]])
    theirs = oracle(input_features=mel, decoder_input_ids=tokens).logits
    ours = _logits_one_by_one(network, _full_states(network, mel), tokens, first=2)
    torch.testing.assert_close(ours, theirs, atol=2e-2, rtol=1e-3)
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


@torch.inference_mode()
def test_the_stem_knows_silence_and_edge_from_a_short_window(tiny_folder: Path, beckett: np.ndarray) -> None:
    network, mel = _network(open_weights(tiny_folder)), LogMel(80)
    sound, dense = beckett[:24_000], window.bucket(24_000)
    whole, short = torch.zeros(1, 480_000), torch.zeros(1, (dense + EDGE_POSITIONS) * 320)
    for samples in (whole, short):
        samples[0, : len(sound)] = torch.from_numpy(sound)
    full, few = network.encoder.stem(mel(whole)), network.encoder.stem(mel(short))
    torch.testing.assert_close(few[:, :dense], full[:, :dense], atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(few[:, dense + 1], full[:, 1000], atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(few[:, -1], full[:, -1], atol=1e-3, rtol=1e-3)
