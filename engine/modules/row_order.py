"""Makes what a row gives depend on that row alone, where libraries let it depend on the rows that share a call.

Sums of floats depend on the order in which they are added. oneDNN adds a row's products in one order for any number of
rows from two on and in another one for a lone row, and torch computes what is left over behind its vectors with other
functions, whose last bits differ. In smaller types one bit may become another token. Measured with torch 2.13 on a CPU
with AVX-512; tests hold it wherever they run. MKL, which multiplies float32 where oneDNN cannot, keeps no order at all.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sayso.engine.modules.int8 import Linear

_TRIED = 4
_GRAIN = 32_768
"""An operation of more elements than this is shared out among threads."""


class OrderedLinear(Linear):
    """A linear layer on a CPU in whose products a row does not depend on the rows beside it."""

    def forward(self, x: Tensor) -> Tensor:
        return in_company(super().forward, x)


def keeps_order(products: Callable[[Tensor], Tensor], width: int) -> bool:
    """Whether ``products`` of float32 rows of this width give a lone row what it gets in company."""
    rows = torch.randn(_TRIED, width, generator=torch.Generator().manual_seed(0))
    return torch.equal(products(rows), torch.cat([products(row) for row in rows.split(1)]))


def in_company(products: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """``products`` of the rows of x [..., width], a lone one having a copy of itself for company."""
    rows = x.reshape(-1, x.shape[-1])
    found = products(rows if len(rows) > 1 else rows.repeat(2, 1))
    return found[: len(rows)].view(*x.shape[:-1], found.shape[-1])


def row_by_row(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """A function of each element of x [..., width], whose rows lie apart in memory: torch takes one after the other.

    More than a few of them would be shared among the CPU's threads, and cut in the middle of a row.
    """
    if x.device.type != "cpu":
        return function(x)
    pieces = [function(piece) for piece in x.flatten(0, -2).split(max(1, _GRAIN // x.shape[-1]))]
    return (pieces[0] if len(pieces) == 1 else torch.cat(pieces)).view(x.shape)
