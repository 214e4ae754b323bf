"""The fused kernels against the operations of torch that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("numba")

from sayso.engine.modules import row_kernels as kernels
from sayso.engine.modules.int8 import ZERO
from sayso.engine.modules.norms import rms_norm
from sayso.engine.modules.rope import Rope, plain_steps, turn

EPSILON = np.float32(1e-5)
NONE = np.zeros(0, np.float32)
NO_ROWS = np.zeros((0, 0), np.float32)
NO_SCALES = np.zeros((0, 0, 0), np.float32)


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def rounded(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """As the int8 layer rounds."""
    scale = rows.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return (rows / scale).round() + ZERO, scale[:, 0]


def test_the_norm_of_rows_is_that_of_torch() -> None:
    x, weight, out = randn(5, 96), randn(96), torch.empty(5, 96)
    before = x.clone()
    kernels.add_norm(x.numpy(), NO_ROWS, NONE, NONE, weight.numpy(), EPSILON, NO_SCALES, 0, 1, out.numpy())
    assert torch.equal(x, before)
    torch.testing.assert_close(out, rms_norm(x, weight, float(EPSILON)))


def test_products_are_scaled_and_added_with_their_bias_before_the_norm() -> None:
    x, sums, factors, bias, weight = randn(6, 96), randn(6, 96), randn(6), randn(96), randn(96)
    delays, out = randn(3, 4, 96), torch.empty(6, 96)
    expected = x + (sums * factors[:, None] + bias)
    normed = rms_norm(expected, weight, float(EPSILON)) * delays[:, 2].repeat_interleave(2, 0)
    arrays = [each.numpy() for each in (x, sums, factors, bias, weight)]
    kernels.add_norm(*arrays, EPSILON, delays.numpy(), 2, 2, out.numpy())
    torch.testing.assert_close(x, expected)
    torch.testing.assert_close(out, normed)


def test_rounded_rows_are_those_of_the_int8_layer() -> None:
    x, weight = randn(7, 384) * torch.logspace(-3, 3, 7)[:, None], torch.ones(384)
    x[3] = 0
    out, scales = torch.empty(7, 384, dtype=torch.uint8), torch.empty(7)
    arguments = (x.numpy(), NO_ROWS, NONE, NONE, weight.numpy(), EPSILON, NO_SCALES, 0, 1)
    kernels.add_norm_int8(*arguments, out.numpy(), scales.numpy())
    whole, scale = rounded(rms_norm(x, weight, float(EPSILON)))
    torch.testing.assert_close(scales, scale)
    # A value that lies between two numbers may go either way after another order of additions.
    assert (out.float() - whole).abs().max() <= 1
    assert (out.float() != whole).float().mean() < 0.01


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_heads_are_turned_and_keys_and_values_lie_in_their_rings(dtype: torch.dtype) -> None:
    sessions, new, kv_heads, grouped, width, length, slots = 2, 3, 2, 2, 16, 8, 4
    heads = kv_heads * grouped
    sums, factors = randn(sessions * new, (heads + 2 * kv_heads) * width), randn(sessions * new)
    bias = randn(sums.shape[1])
    cosine, sine = Rope(plain_steps(width, 1e4), torch.float32, torch.device("cpu")).angles(torch.arange(6).view(2, 3))
    places, entries = torch.tensor([[1], [3]]), torch.tensor([[6, 7, 0], [2, 3, 4]])
    start, size = 5, 2 * kv_heads * length * width
    rings = torch.zeros(slots, start + size + 3, dtype=dtype)
    queries = torch.empty(sessions, kv_heads, grouped * new, width, dtype=dtype)
    flat = [angle.reshape(-1, width).numpy() for angle in (cosine, sine)]
    stored, asked = (each.view(torch.uint16) if dtype == torch.bfloat16 else each for each in (rings, queries))
    kernels.turn_heads(
        sums.numpy(), factors.numpy(), bias.numpy(), *flat, places.numpy(), entries.numpy(), stored.numpy(),
        start, length, asked.numpy(),
    )  # fmt: skip
    whole = (sums * factors[:, None] + bias).view(sessions, new, -1, width)
    whole[:, :, : heads + kv_heads] = turn(whole[:, :, : heads + kv_heads], cosine, sine)
    expected = torch.zeros(slots, 2 * kv_heads, length, width)
    expected[places, :, entries] = whole[:, :, heads:]
    precision = {"rtol": 1e-2, "atol": 1e-2} if dtype == torch.bfloat16 else {"rtol": 1e-5, "atol": 1e-5}
    ring = rings[:, start : start + size].view(expected.shape)
    torch.testing.assert_close(ring.float(), expected, **precision)
    by_key_head = whole[:, :, :heads].view(sessions, new, kv_heads, grouped, width).permute(0, 2, 3, 1, 4)
    torch.testing.assert_close(queries.float(), by_key_head.reshape(queries.shape), **precision)
    assert not rings[[0, 2]].any()
    assert not rings[:, :start].any()


def test_bfloat16_is_rounded_as_torch_rounds() -> None:
    values = torch.cat([randn(1, 1000), torch.tensor([[1.00390625, 1.01171875, -1.00390625, float("nan")] * 6])], 1)
    rings = torch.zeros(1, values.shape[1] * 2, dtype=torch.bfloat16)
    one = torch.ones(1, values.shape[1])
    sums = torch.cat([one, one, values], 1)  # a query head, a key head and the value head
    at = torch.zeros(1, 1, dtype=torch.int64).numpy()
    queries = torch.zeros(1, 1, 1, values.shape[1], dtype=torch.bfloat16).view(torch.uint16)
    flat = rings.view(torch.uint16).numpy()
    kernels.turn_heads(sums.numpy(), NONE, NONE, one.numpy(), one.numpy(), at, at, flat, 0, 1, queries.numpy())
    torch.testing.assert_close(
        rings[0, values.shape[1] :], values[0].to(torch.bfloat16), rtol=0, atol=0, equal_nan=True
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_heads_are_joined_row_by_row(dtype: torch.dtype) -> None:
    sessions, new, kv_heads, grouped, width = 2, 3, 2, 2, 16
    seen = randn(sessions, grouped * new, kv_heads, width).to(dtype)
    out = torch.empty(sessions * new, kv_heads * grouped * width)
    words = (seen.view(torch.uint16) if dtype == torch.bfloat16 else seen).numpy()
    kernels.join_heads(words, new, out.numpy())
    apart = seen.float().view(sessions, grouped, new, kv_heads, width).permute(0, 2, 3, 1, 4)
    assert torch.equal(out, apart.reshape(out.shape))
    whole, scales = torch.empty(out.shape, dtype=torch.uint8), torch.empty(len(out))
    kernels.join_heads_int8(words, new, whole.numpy(), scales.numpy())
    torch.testing.assert_close(scales, rounded(out)[1])
    assert torch.equal(whole.float(), rounded(out)[0])


def test_the_gate_is_silu_times_the_other_half() -> None:
    sums, factors = randn(5, 400) * 9, randn(5)
    sums[0, :8] = torch.tensor([0.0, 88.0, -88.0, 1e4, -1e4, 1e-6, -1e-6, 700.0])
    scaled = sums * factors[:, None]
    expected = functional.silu(scaled[:, :200]) * scaled[:, 200:]
    out, whole, scales = torch.empty(5, 200), torch.empty(5, 200, dtype=torch.uint8), torch.empty(5)
    kernels.gate(sums.numpy(), factors.numpy(), out.numpy())
    torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-6)
    kernels.gate_int8(sums.numpy(), factors.numpy(), whole.numpy(), scales.numpy())
    torch.testing.assert_close((whole.float() - ZERO) * scales[:, None], out, rtol=0, atol=float(scales.max()) * 0.51)
