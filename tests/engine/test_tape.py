"""The tape keeps what is needed at its position and lets go of the rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.tape import Tape


@given(st.lists(st.tuples(st.integers(0, 40_000), st.integers(-5, 60_000)), max_size=30))
def test_what_is_read_is_what_was_appended_at_that_position(steps: list[tuple[int, int]]) -> None:
    tape = Tape()
    for count, drop in steps:
        tape.append(np.arange(tape.end, tape.end + count, dtype=np.float32))
        tape.drop_before(drop)
        np.testing.assert_array_equal(tape.read(tape.start, tape.end), np.arange(tape.start, tape.end))


def test_memory_stays_flat_when_the_beginning_is_dropped() -> None:
    tape = Tape()
    sizes = []
    for _ in range(600):
        tape.append(np.zeros(16_000, np.float32))
        tape.drop_before(tape.end - 32_000)
        sizes.append(tape.nbytes)
    assert max(sizes[300:]) <= max(sizes[:300]) <= 4 * 32_000 * 4


def test_dropped_samples_cannot_be_read() -> None:
    tape = Tape()
    tape.append(np.zeros(100, np.float32))
    tape.drop_before(50)
    for start, end in ((49, 60), (60, 101)):
        with pytest.raises(IndexError):
            tape.read(start, end)
