from __future__ import annotations

import pytest
import torch

from sayso.engine.errors import EngineError
from sayso.engine.modules.precision import choose_precision

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("wanted", "compute", "int8", "cache"),
    [
        ("float32", torch.float32, False, torch.float32),
        ("bfloat16", torch.bfloat16, False, torch.bfloat16),
        ("float32/int8", torch.float32, False, torch.int8),
        ("int8/float16", torch.float32, True, torch.float16),
    ],
)
def test_a_precision_names_weights_and_cache(wanted, compute, int8, cache) -> None:
    chosen = choose_precision(wanted, CPU)
    assert (chosen.compute, chosen.int8_weights, chosen.cache) == (compute, int8, cache)


@pytest.mark.parametrize("wanted", ["float64", "int4", "int8/int4", "", "/"])
def test_an_unknown_one_is_refused_with_those_that_there_are(wanted) -> None:
    with pytest.raises(EngineError, match="bfloat16") as refusal:
        choose_precision(wanted, CPU)
    assert refusal.value.code == "precision_unknown"


def test_int8_weights_are_for_a_cpu_only() -> None:
    with pytest.raises(EngineError):
        choose_precision("int8", torch.device("meta"))
    assert choose_precision("auto", torch.device("meta")).compute == torch.bfloat16
