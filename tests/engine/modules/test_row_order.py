from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from sayso.engine.modules.int8 import Int8Linear
from sayso.engine.modules.packed_linear import PackedLinear, packing_works
from sayso.engine.modules.row_order import OrderedLinear, row_by_row

ROWS, WIDE, NARROW = 96, 1536, 384


@pytest.fixture(autouse=True, params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def together_and_alone(function: Callable[[Tensor], Tensor], x: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """What rows give in calls of several sizes beside what each gives by itself."""
    alone = torch.cat([function(x[row : row + 1]) for row in range(len(x))])
    for count in (2, 3, 8, 17, len(x)):
        yield torch.cat([function(part) for part in x.split(count)]), alone


def layer(kind: str, weight: Tensor, bias: Tensor) -> Callable[[Tensor], Tensor]:
    match kind:
        case "int8":
            return Int8Linear(weight, bias)
        case "packed":
            return PackedLinear(weight, bias)
    return OrderedLinear(weight.to(getattr(torch, kind)), bias.to(getattr(torch, kind)))


@pytest.mark.skipif(not packing_works(), reason="this build of torch multiplies without oneDNN")
@pytest.mark.parametrize("kind", ["packed", "bfloat16", "float16", "int8"])
@pytest.mark.parametrize(("out", "width"), [(NARROW, WIDE), (WIDE, NARROW), (100, 60)])
def test_products_of_a_row_are_the_same_in_any_company(kind: str, out: int, width: int) -> None:
    random = torch.Generator().manual_seed(out)
    weight, bias = torch.randn(out, width, generator=random), torch.randn(out, generator=random)
    x = torch.randn(ROWS, width, generator=random)
    x = x.to(getattr(torch, kind)) if kind.startswith(("bf", "fl")) else x
    made = layer(kind, weight, bias)
    for found, alone in together_and_alone(made, x):
        assert torch.equal(found, alone)
    assert torch.equal(made(x.view(2, ROWS // 2, width)).view(ROWS, out), alone)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("width", [33, 96, 5120])
def test_an_activation_of_a_row_is_the_same_in_any_company(dtype: torch.dtype, width: int) -> None:
    gates = torch.randn(ROWS, 2 * width, generator=torch.Generator().manual_seed(width)).to(dtype)[:, :width]
    assert torch.equal(row_by_row(functional.silu, gates[:, None])[:, 0], row_by_row(functional.silu, gates))
    for found, alone in together_and_alone(lambda x: row_by_row(functional.silu, x), gates):
        assert torch.equal(found, alone)
