from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from sayso.engine.modules.int8 import ZERO, Int8Linear, Linear

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


def test_sums_are_those_of_the_integers(layers: tuple[Linear, Int8Linear]) -> None:
    rows = torch.randint(-127, 128, (9, 384), generator=torch.Generator().manual_seed(6))
    given = layers[1].products((rows + ZERO).to(torch.uint8)) / layers[1].scales
    assert torch.allclose(given, given.round(), atol=0.3), "sums of integers are integers"
    floats = rows.float() @ layers[0].weight.T
    assert (given * layers[1].scales - floats).std() < 0.02 * floats.std()


def tried(instructions: str) -> str:
    """What a process says that knows no newer instructions than these; the last line is whether int8 is faster."""
    code = "from sayso.engine.modules.int8 import int8_is_faster\nprint(int8_is_faster())"
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions, "ONEDNN_VERBOSE": "1", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return result.stdout


@pytest.mark.skipif(not torch.cpu._is_vnni_supported(), reason="this CPU has no VNNI")
def test_a_cpu_with_vnni_and_without_amx_has_a_kernel_of_its_own() -> None:
    said = tried("AVX512_CORE_VNNI" if torch.cpu._is_avx512_supported() else "AVX2_VNNI")
    assert "matmul,brg" in said
    assert "ref_int8" not in said


def test_a_cpu_that_clips_the_sums_is_not_used_for_int8() -> None:
    said = tried("AVX2")
    assert "matmul" in said
    assert said.splitlines()[-1] == "False"
