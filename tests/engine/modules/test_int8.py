from __future__ import annotations

import pytest
import torch

from sayso.engine.modules.int8 import Int8Linear, Linear

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.onednn, "qlinear_pointwise"), reason="this build of torch has no int8 layers"
)


@pytest.fixture
def layers() -> tuple[Linear, Int8Linear]:
    generator = torch.Generator().manual_seed(3)
    weight, bias = torch.randn(1000, 384, generator=generator), torch.randn(1000, generator=generator)
    return Linear(weight, bias), Int8Linear(weight, bias)


def test_int8_is_close_to_float(layers: tuple[Linear, Int8Linear]) -> None:
    x = torch.randn(2, 5, 384, generator=torch.Generator().manual_seed(4))
    exact, fast = (layer(x) for layer in layers)
    assert fast.shape == exact.shape
    assert (fast - exact).std() < 0.02 * exact.std()


def test_a_row_does_not_depend_on_the_rows_beside_it(layers: tuple[Linear, Int8Linear]) -> None:
    x = torch.randn(7, 384, generator=torch.Generator().manual_seed(5)) * torch.logspace(-2, 2, 7)[:, None]
    together = layers[1](x)
    for row in range(7):
        assert torch.equal(together[row], layers[1](x[row : row + 1])[0])


def test_rows_of_zeros_give_the_bias(layers: tuple[Linear, Int8Linear]) -> None:
    assert torch.equal(layers[1](torch.zeros(1, 384))[0], layers[0].bias)


def test_the_weights_take_a_quarter(layers: tuple[Linear, Int8Linear]) -> None:
    assert layers[1].weight_bytes < 0.3 * layers[0].weight.numel() * 4
