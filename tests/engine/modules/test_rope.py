from __future__ import annotations

import math

import torch

from sayso.engine.modules.rope import Rope, plain_steps, turn

HOURS_10 = 10 * 3600 * 50


def rope() -> Rope:
    return Rope(plain_steps(64, 1e6), torch.float32, torch.device("cpu"))


def test_only_the_distance_between_two_positions_counts_however_far_they_are() -> None:
    random = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, 1, 64, generator=random)

    def score(at: int) -> float:
        a, b = rope().angles(torch.tensor([at])), rope().angles(torch.tensor([at - 37]))
        return float((turn(query, *a) * turn(key, *b)).sum())

    near = score(100)
    for at in (HOURS_10, 1000 * HOURS_10):
        assert math.isclose(score(at), near, rel_tol=1e-4, abs_tol=1e-4)


def test_angles_are_those_of_transformers_where_float32_is_exact() -> None:
    positions = torch.arange(64)
    steps = 1.0 / (1e6 ** (torch.arange(0, 64, 2, dtype=torch.float) / 64))
    expected = torch.cat([positions[:, None].float() * steps] * 2, -1)
    cosine, sine = rope().angles(positions)
    assert torch.allclose(cosine[:, 0], expected.cos(), atol=4e-6)
    assert torch.allclose(sine[:, 0, 32:], expected.sin()[:, 32:], atol=4e-6)
    assert torch.allclose(sine[:, 0, :32], -expected.sin()[:, :32], atol=4e-6)
