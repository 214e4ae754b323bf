"""Fused stacks give what plain ones give, in every type that they take, and plain ones run everywhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from tiny_voxtral import build
from torch import Tensor

from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_fused import FusedStack, stack_over
from sayso.engine.modules.voxtral_realtime import VoxtralRealtime

CPU = torch.device("cpu")
STEPS, ALONE = 30, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny"))


def load(folder: Path, precision: str, *, fused: bool, monkeypatch: pytest.MonkeyPatch) -> VoxtralRealtime:
    with monkeypatch.context() as patch:
        if not fused:
            # What an installation without numba says to whoever imports it.
            patch.setattr("importlib.util.find_spec", lambda name: None)
        model = VoxtralRealtime.load(folder, CPU, choose_precision(precision, CPU), 4)
    assert isinstance(model._decoder, FusedStack) == fused
    return model


def turns(model: VoxtralRealtime) -> tuple[Tensor, list[list[int]]]:
    """Two sessions of different age and delay, past the end of their windows: the last audio and all tokens."""
    random = torch.Generator().manual_seed(1)
    first = model.sit(6)
    late = [first, model.sit(2)]
    said, tokens = [], [70, 70]
    for step in range(STEPS):
        seats = [first] if step < ALONE else late
        tokens = tokens[: len(seats)] + [70] * (len(seats) - len(tokens))
        audio = model.encode(seats, torch.randn(len(seats), 200 + 1280 + 40, generator=random) * 0.1)
        tokens, _ = model.decode(seats, tokens, audio[:, 0], [0.0] * len(seats))
        said.append(tokens)
    return audio, said


@pytest.mark.parametrize("precision", ["float32", "float32/bfloat16", "int8/float32", "int8/bfloat16"])
def test_fused_stacks_give_what_plain_ones_give(folder: Path, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    fused, tokens = turns(load(folder, precision, fused=True, monkeypatch=monkeypatch))
    plain, expected = turns(load(folder, precision, fused=False, monkeypatch=monkeypatch))
    exact = precision == "float32"
    # A sum in another order may round to the next int8 or bfloat16, which is as right.
    assert (fused - plain).std() < (1e-5 if exact else 0.05) * plain.std()
    if exact:
        assert tokens == expected


def test_types_that_the_kernels_do_not_take_run_plainly(folder: Path) -> None:
    for precision in ("float32/int8", "float32/float16", "bfloat16"):
        model = VoxtralRealtime.load(folder, CPU, choose_precision(precision, CPU), 2)
        assert not isinstance(model._decoder, FusedStack)


def test_a_numba_that_cannot_be_imported_is_said_and_done_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("numba")
    model = VoxtralRealtime.load(folder, CPU, choose_precision("float32", CPU), 2)
    for name in ("sayso.engine.modules.row_kernels", "numba"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr("sayso.engine.modules.row_kernels", raising=False)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    assert not isinstance(stack_over(model.network.decoder, model.decoder_rings), FusedStack)
    assert "numba" in caplog.text
