"""What a client is told of an unexpected fault, and which faults say that memory ran out."""

import errno

import pytest
import torch

from sayso.engine.errors import EngineError
from sayso.engine.faults import MOST_CHARACTERS, is_out_of_memory, reason


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EngineError("model_damaged", "/models/tiny is cut off."), "/models/tiny is cut off."),
        (ValueError("thirteen is too much"), "ValueError: thirteen is too much"),
        (KeyError(), "KeyError"),
        (
            OSError(2, "No such file", "/home/ada/models/tiny/model.bin"),
            "FileNotFoundError: [Errno 2] No such file: '…'",
        ),
        (
            RuntimeError("<Rings at 0x7f3a00c0ffee> in C:\\Users\\ada\\x.py is full"),
            "RuntimeError: <Rings at …> in … is full",
        ),
        (RuntimeError('\n  first\n  File "/opt/secret.py", line 3'), "RuntimeError: first"),
        (RuntimeError("3/4 of mat1 and/or mat2"), "RuntimeError: 3/4 of mat1 and/or mat2"),
    ],
)
def test_a_client_is_told_what_happened_and_nothing_of_the_machine(error: Exception, told: str) -> None:
    assert reason(error) == told


def test_a_long_story_is_cut() -> None:
    assert len(reason(RuntimeError("x" * 10_000))) < MOST_CHARACTERS + 20


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (EngineError("out_of_memory", "full"), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (RuntimeError("shapes do not match"), False),
    ],
)
def test_errors_that_say_memory_ran_out_are_known(error: Exception, expected: bool) -> None:
    assert is_out_of_memory(error) is expected


def test_a_real_allocation_that_is_too_large_is_known() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
