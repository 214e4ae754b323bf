from __future__ import annotations

import pytest
import torch
from tiny_voxtral import PUBLISHED, SMALL, Sizes, config

from sayso.engine.modules.voxtral_shape import StackShape, shape_from_config
from sayso.engine.modules.voxtral_threads import on_threads, threads_for


def decoder(sizes: Sizes) -> StackShape:
    return shape_from_config(config(sizes)).decoder


def test_few_rows_of_a_small_model_are_not_worth_waking_a_thread() -> None:
    assert threads_for(decoder(SMALL), 1, 1, 100, torch.int8, torch.bfloat16, most=2) == 1
    assert threads_for(decoder(SMALL), 60, 1, 1024, torch.int8, torch.bfloat16, most=2) == 2
    assert threads_for(decoder(SMALL), 4, 1, 100, torch.float32, torch.float32, most=2) == 2


def test_the_published_size_is_always_shared() -> None:
    assert threads_for(decoder(PUBLISHED), 1, 1, 1, torch.int8, torch.bfloat16, most=4) == 4


def test_one_thread_is_one_thread() -> None:
    assert threads_for(decoder(PUBLISHED), 64, 1, 8192, torch.bfloat16, torch.bfloat16, most=1) == 1


def test_the_number_of_threads_comes_back_after_an_error_too() -> None:
    def fail() -> None:
        assert torch.get_num_threads() == before + 1
        raise ValueError("broken")

    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="broken"), on_threads(before + 1):
        fail()
    assert torch.get_num_threads() == before
