"""What ``config.json`` says of a causal text model, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_causal import TinyCausal, config

from sayso.engine.errors import EngineError
from sayso.engine.modules.causal_shape import read_shape, shape_of


def test_families_differ_in_biases_norms_and_windows() -> None:
    facts = {family: shape_of(config(TinyCausal(family)), {}) for family in ("llama", "mistral", "qwen2", "qwen3")}
    assert [family for family, shape in facts.items() if shape.qkv_bias] == ["qwen2"]
    assert [family for family, shape in facts.items() if shape.head_norms] == ["qwen3"]
    assert [family for family, shape in facts.items() if shape.windows[0]] == ["mistral"]
    assert not any(shape.out_bias or shape.feed_forward_bias for shape in facts.values())


@pytest.mark.parametrize(
    ("more", "windows"),
    [
        ({"use_sliding_window": False, "sliding_window": 9}, (None, None, None)),
        ({"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 2}, (None, None, 9)),
        (
            {
                "use_sliding_window": True,
                "sliding_window": 9,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            },
            (9, None, 9),
        ),
    ],
)
def test_qwen_s_windows_are_only_in_some_layers(more: dict[str, Any], windows: tuple[int | None, ...]) -> None:
    assert shape_of(config(TinyCausal("qwen2").with_config(**more)), {}).windows == windows


def test_old_and_new_names_of_the_rotary_settings_say_the_same() -> None:
    scaling = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
    old = TinyCausal().with_config(rope_theta=5e5, rope_scaling={"type": "llama3", **scaling})
    new = TinyCausal().with_config(rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, **scaling})
    assert shape_of(config(old), {}).rope == shape_of(config(new), {}).rope


def test_yarn_makes_a_model_longer_than_its_file_may_say() -> None:
    yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
    assert shape_of(config(TinyCausal().with_config(rope_scaling=yarn)), {}).max_length == 16384
    linear = {"type": "linear", "factor": 4.0}
    assert shape_of(config(TinyCausal().with_config(rope_scaling=linear)), {}).max_length == 4096


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"model_type": "gemma"}, "gemma"),
        ({"rope_scaling": {"rope_type": "longrope", "factor": 4.0}}, "longrope"),
        ({"rope_scaling": {"type": "dynamic", "factor": 4.0}}, "dynamic"),
        ({"partial_rotary_factor": 0.5}, "part of each head"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"quantization_config": {"quant_method": "awq"}}, "awq"),
    ],
)
def test_what_this_engine_does_not_have_is_named(more: dict[str, Any], named: str) -> None:
    with pytest.raises(EngineError, match=named) as caught:
        shape_of(config(TinyCausal().with_config(**more)), {})
    assert caught.value.code == "model_unsupported"


@pytest.mark.parametrize(
    "more",
    [
        {"hidden_size": "wide"},
        {"num_attention_heads": 0},
        {"num_key_value_heads": 3},
        {"vocab_size": None},
        {"rope_scaling": {"type": "llama3", "factor": 8.0}},
        {"head_dim": 15},
        {"layer_types": ["full_attention"], "model_type": "qwen2"},
    ],
)
def test_settings_that_make_no_sense_are_damage(tmp_path: Path, more: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config(TinyCausal().with_config(**more))))
    with pytest.raises(EngineError) as caught:
        read_shape(tmp_path)
    assert caught.value.code == "model_damaged"
    assert str(tmp_path) in str(caught.value)


def test_a_config_that_is_missing_or_no_json_is_told(tmp_path: Path) -> None:
    for content, code in ((None, "model_not_found"), ("{", "model_damaged"), ("[]", "model_damaged")):
        if content is not None:
            (tmp_path / "config.json").write_text(content)
        with pytest.raises(EngineError) as caught:
            read_shape(tmp_path)
        assert caught.value.code == code
