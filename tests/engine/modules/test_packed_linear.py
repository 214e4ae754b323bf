from __future__ import annotations

import pytest
import torch

from sayso.engine.modules.packed_linear import PackedLinear, packing_works


@pytest.mark.skipif(not packing_works(), reason="this build of torch packs no weights")
@pytest.mark.parametrize("rows", [1, 2, 7, 32, 120])
def test_it_is_the_ordinary_layer_for_any_number_of_rows(rows) -> None:
    random = torch.Generator().manual_seed(rows)
    weight, bias = torch.randn(96, 64, generator=random), torch.randn(96, generator=random)
    x = torch.randn(rows, 64, generator=random)
    assert torch.allclose(PackedLinear(weight, bias)(x), x @ weight.T + bias, atol=1e-4)
    assert torch.allclose(PackedLinear(weight, None)(x[None])[0], x @ weight.T, atol=1e-4)
