"""Rings: what a query sees, mixed ages in one step, and memory that leaves the process."""

from __future__ import annotations

import sys

import psutil
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mapped_memory import HostMemory

from sayso.engine.errors import EngineError
from sayso.engine.ring_cache import BLOCK, Rings, RingShape, Slots

CPU = torch.device("cpu")
HEADS, WIDTH = 2, 8


def rings(window: int = 6, most_new: int = 4, dtype: torch.dtype = torch.float32, slots: int = 8) -> Rings:
    return Rings(RingShape(1, HEADS, WIDTH, window, most_new, dtype), slots, CPU)


class Plain:
    """Attention over everything a session ever said, cut to the window afterwards: slow and obviously right."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.kv = torch.zeros(0, 2 * HEADS, WIDTH)

    def step(self, queries: torch.Tensor, kv: torch.Tensor) -> torch.Tensor:
        self.kv = torch.cat([self.kv, kv])
        rows = []
        for index in range(len(kv)):
            end = len(self.kv) - len(kv) + index + 1
            seen = self.kv[max(0, end - self.window) : end]
            weights = torch.softmax(torch.einsum("hd,nhd->hn", queries[:, index], seen[:, :HEADS]) / WIDTH**0.5, -1)
            rows.append(torch.einsum("hn,nhd->hd", weights, seen[:, HEADS:]))
        return torch.stack(rows, 1)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sets(st.integers(0, 4), min_size=1), st.integers(1, 4)), min_size=1, max_size=14),
)
def test_any_mix_of_sessions_sees_what_each_would_see_alone(steps) -> None:
    random = torch.Generator().manual_seed(len(steps))
    shared = rings()
    plain = {slot: Plain(6) for slot in range(5)}
    at = dict.fromkeys(range(5), 0)
    for chosen, new in steps:
        slots = sorted(chosen)
        queries = torch.randn(len(slots), HEADS, new, WIDTH, generator=random)
        kv = torch.randn(len(slots), new, 2 * HEADS, WIDTH, generator=random)
        step = shared.plan(slots, [at[slot] for slot in slots], new, 1)
        shared.write(0, step, kv)
        seen = shared.attend(0, step, queries)
        for row, slot in enumerate(slots):
            assert torch.allclose(seen[row], plain[slot].step(queries[row], kv[row]), atol=1e-5)
            at[slot] += new


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.05), (torch.float16, 0.01), (torch.int8, 0.05)])
def test_smaller_types_are_near(dtype, tolerance) -> None:
    random = torch.Generator().manual_seed(3)
    small, plain = rings(dtype=dtype), Plain(6)
    for at in range(20):
        queries = torch.randn(1, HEADS, 1, WIDTH, generator=random)
        kv = torch.randn(1, 1, 2 * HEADS, WIDTH, generator=random)
        step = small.plan([2], [at], 1, 1)
        small.write(0, step, kv)
        assert (small.attend(0, step, queries)[0] - plain.step(queries[0], kv[0])).abs().max() < tolerance


def test_neighbouring_slots_that_look_at_as_many_entries_are_one_run_and_others_are_not() -> None:
    step = rings(window=200).plan([0, 1, 2, 5, 6], [100, 127, 192, 100, 3], 1, 1)
    assert [(run.rows.start, run.rows.stop, run.length) for run in step.runs] == [
        (0, 2, 128),
        (2, 3, 208),
        (3, 4, 128),
        (4, 5, BLOCK),
    ]


def test_how_much_is_looked_at_follows_from_the_position_and_is_one_number_within_a_block() -> None:
    shape = RingShape(1, HEADS, WIDTH, 200, BLOCK, torch.float32)
    looked = [shape.looked_at(at) for at in range(2 * shape.length)]
    assert all(at < count for at, count in enumerate(looked[: shape.length]))
    assert looked == sorted(looked)
    assert set(looked) == {32, 64, 96, 128, 192, shape.length}
    for begin in range(0, len(looked) - BLOCK, BLOCK):
        assert len(set(looked[begin : begin + BLOCK])) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8])
def test_a_copied_beginning_is_seen_like_the_original(dtype) -> None:
    random = torch.Generator().manual_seed(1)
    some = rings(dtype=dtype)
    step = some.plan([0], [0], 4, 1)
    some.write(0, step, torch.randn(1, 4, 2 * HEADS, WIDTH, generator=random))
    some.copy_in(3, some.copy_out(0, 4))
    queries = torch.randn(1, HEADS, 1, WIDTH, generator=random)
    kv = torch.randn(1, 1, 2 * HEADS, WIDTH, generator=random)
    seen = []
    for slot in (0, 3):
        step = some.plan([slot], [4], 1, 1)
        some.write(0, step, kv)
        seen.append(some.attend(0, step, queries))
    assert torch.equal(*seen)


def test_memory_leaves_the_process_when_sessions_end() -> None:
    shape = RingShape(4, 8, 64, 500, 4, torch.float32)
    many = Rings(shape, 200, CPU)
    process, slots = psutil.Process(), Slots(200)
    before = process.memory_info().rss
    taken = [slots.take() for _ in range(20)]
    for slot in taken:
        for layer in range(shape.layers):
            many._kv[slot, layer] = 1.0
    full = process.memory_info().rss - before
    assert full > 0.9 * 20 * shape.slot_bytes
    for slot in taken:
        many.release(slot)
        slots.give_back(slot)
    assert process.memory_info().rss - before < 0.05 * full
    assert slots.used == 0


def test_a_released_slot_starts_empty() -> None:
    some = rings()
    some._kv[4] = 5.0
    some.release(4)
    assert not some._kv[4].any()


def test_the_lowest_free_slot_is_given_and_a_full_house_says_so() -> None:
    slots = Slots(3)
    assert [slots.take() for _ in range(3)] == [0, 1, 2]
    slots.give_back(2)
    slots.give_back(0)
    assert slots.take() == 0
    assert slots.take() == 2
    with pytest.raises(EngineError) as refusal:
        slots.take()
    assert refusal.value.code == "session_limit"


@pytest.mark.skipif(sys.platform != "linux", reason="maps memory as only Linux does here")
def test_a_slot_of_mapped_memory_is_taken_with_its_scales_or_not_at_all() -> None:
    memory = HostMemory()
    shape = RingShape(1, HEADS, WIDTH, 6, 4, torch.int8)
    some = Rings(shape, 4, CPU, memory)
    some.take(1)
    assert some.held_bytes(1) == some.mapped_bytes == memory.nbytes == 2 * memory.granule
    memory.most_bytes = 3 * memory.granule
    with pytest.raises(EngineError) as refusal:
        some.take(0)
    assert refusal.value.code == "session_limit"
    assert some.mapped_bytes == memory.nbytes == 2 * memory.granule
    memory.most_bytes = 6 * memory.granule
    some.cover(2)
    step = some.fixed_plan(torch.tensor([0, 3]), 1, 1)
    some.write(0, step, torch.ones(2, 1, 2 * HEADS, WIDTH))
    assert torch.equal(some.used(1, 4)[0][:, :, 3], torch.full((1, 2 * HEADS, WIDTH), 127, dtype=torch.int8))
    some.release(1)
    assert memory.nbytes == 0
