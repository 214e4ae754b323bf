"""Causal text models on a CUDA device: the same numbers as on the CPU, in mixed batches and in narrower types."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_causal import FAMILIES, build

from sayso.engine import catalog
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.runner.token_base import Slice

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]


def load(folder: Path, device: str, precision: str) -> CausalRunner:
    files = catalog.resolve(str(folder))
    return CausalRunner.load(files, device, precision, cache_bytes=1 << 23, block_tokens=8)


def rows(runner: CausalRunner) -> torch.Tensor:
    """Logits of a long prompt, a short one and two answers, in one step."""
    first = [Slice("a", tuple(range(3, 93)), 0, range(0, 40, 2), False), Slice("b", (7, 8, 9), 0, (1, 3), True)]
    runner.forward(first)
    mixed = [
        Slice("a", (5,), 90, range(0, 40, 2), True),
        Slice("b", (6,), 3, (1, 3), True),
        Slice("c", tuple(range(9, 59)), 0, range(41, 60), True),
        Slice("d", (4, 5), 0, (100,), True),
    ]
    return runner.forward(mixed).cpu()


@pytest.mark.parametrize("name", ["llama 3", "mistral, window", "qwen2", "qwen3"])
@pytest.mark.parametrize(("precision", "error"), [("float32", 1e-3), ("bfloat16", 0.06), ("float32/int8", 0.06)])
def test_a_mixed_batch_gives_the_numbers_of_the_cpu(tmp_path: Path, name: str, precision: str, error: float) -> None:
    folder = build(tmp_path, FAMILIES[name])
    exact = rows(load(folder, "cpu", "float32"))
    found = rows(load(folder, "cuda", precision))
    assert float((found - exact).std() / exact.std()) < error
