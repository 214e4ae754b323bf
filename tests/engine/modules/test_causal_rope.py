"""Rotary angles of every kind equal transformers', and far positions stay exact."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_causal import TinyCausal, config

from sayso.engine.modules import causal_rope
from sayso.engine.modules.causal_shape import shape_of

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
KINDS: list[dict[str, Any]] = [
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 2.5},
    {**LLAMA3, "original_max_position_embeddings": 256},
    YARN,
    {**YARN, "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 0.5, "beta_fast": 16, "beta_slow": 2},
    {**YARN, "attention_factor": 1.3, "truncate": False},
]


@pytest.mark.parametrize("rope", KINDS)
@pytest.mark.parametrize("width", [16, 128])
def test_steps_and_scale_are_those_of_transformers(rope: dict[str, Any], width: int) -> None:
    transformers = pytest.importorskip("transformers")
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    tiny = TinyCausal(head_width=width).with_config(rope_parameters={"rope_theta": 500_000.0, **rope})
    shape = shape_of(config(tiny), {})
    theirs = LlamaRotaryEmbedding(transformers.LlamaConfig(**config(tiny)))
    torch.testing.assert_close(causal_rope.steps(shape.rope, width), theirs.inv_freq, rtol=1e-6, atol=0)
    assert causal_rope.scale(shape.rope) == pytest.approx(theirs.attention_scaling)
