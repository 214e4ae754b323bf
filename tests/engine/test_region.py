"""Parts of a device's memory: which of them hold some, what a step may touch, and that all of it is given back."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mapped_memory import HostMemory

from sayso.engine.errors import EngineError
from sayso.engine.region import Region

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="maps memory as only Linux does here")

PARTS = 6
GRANULE = HostMemory.granule
MOVES = st.lists(st.tuples(st.sampled_from(["take", "release", "cover"]), st.integers(0, PARTS - 1)), max_size=20)


@settings(max_examples=25, deadline=None)
@given(MOVES, st.sampled_from([1, 2 * GRANULE, 5 * GRANULE]))
def test_whoever_has_a_part_finds_what_it_wrote_whatever_a_step_writes_elsewhere(
    moves: list[tuple[str, int]], part_bytes: int
) -> None:
    memory = HostMemory()
    region = Region(PARTS, part_bytes, memory, common_bytes=2 * GRANULE)
    parts = region.tensor().view(PARTS, region.stride)
    owned: set[int] = set()
    for move, part in moves:
        if move == "take":
            region.take(part)
            parts[part, 0] = parts[part, -1] = part
            owned.add(part)
        elif move == "release":
            region.release(part)
            owned.discard(part)
        else:
            region.cover(part + 1)
            others = [each for each in range(part + 1) if each not in owned]
            parts[others, 0] = parts[others, -1] = 99
        assert all(parts[each, 0] == parts[each, -1] == each for each in owned)
        assert region.nbytes == memory.nbytes
        assert memory.nbytes >= len(owned) * region.stride
        if not owned and move == "release":
            assert region.nbytes <= 2 * GRANULE
    del parts, region
    assert not memory.created
    assert not memory.reserved


def test_a_part_without_memory_for_it_is_not_taken() -> None:
    memory = HostMemory(most_bytes=2 * GRANULE)
    region = Region(PARTS, 1, memory)
    region.take(0)
    region.take(3)
    with pytest.raises(EngineError) as refused:
        region.take(1)
    assert refused.value.code == "session_limit"
    region.release(3)
    region.take(1)
    assert region.nbytes == memory.nbytes == 2 * GRANULE


def test_the_last_part_that_goes_takes_the_covers_along() -> None:
    memory = HostMemory()
    region = Region(PARTS, 1, memory)
    region.take(4)
    region.cover(5)
    assert region.nbytes == 2 * GRANULE
    region.release(4)
    assert region.nbytes == memory.nbytes == 0
    assert not memory.mapped
