"""Pages: attention over them equals plain attention, and what is dropped leaves the process."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from sayso.engine.blocks import Paging
from sayso.engine.paged_cache import PagedCache, PageShape
from sayso.engine.runner.token_base import Slice

CPU = torch.device("cpu")
HEADS, GROUPED, WIDTH, PAGE = 2, 3, 8, 4
WINDOWS = (None, 5)


class Told:
    """What sessions stored, kept plainly beside the cache: keys and values [length, 2, heads, width]."""

    def __init__(self, cache: PagedCache) -> None:
        self.cache = cache
        self.kept: dict[str, Tensor] = {}
        self.blocks: dict[str, list[int]] = {}
        self.gone: dict[str, int] = {}
        """Pages of a session that were behind every window and are dropped."""
        self.free = list(range(cache.pages))
        random.Random(1).shuffle(self.free)

    def step(
        self, counts: Sequence[tuple[str, int]], generator: torch.Generator, windows: Sequence[int | None] = WINDOWS
    ) -> None:
        """Each session stores so many positions more; what their queries see is checked against plain attention."""
        batch = [self._slice(name, count) for name, count in counts]
        step = self.cache.plan(batch, windows)
        total = sum(count for _, count in counts)
        for layer in range(self.cache.shape.layers):
            kv = torch.randn(total, 2, HEADS, WIDTH, generator=generator)
            queries = torch.randn(total, HEADS * GROUPED, WIDTH, generator=generator)
            self.cache.write(layer, step, kv)
            begin = 0
            for name, count in counts:
                key = f"{name}/{layer}"
                self.kept[key] = torch.cat([self.kept.get(key, kv[:0]), kv[begin : begin + count]])
                begin += count
            for window in windows:
                found = self.cache.attend(layer, step, queries, window)
                begin = 0
                for name, count in counts:
                    expected = plain(queries[begin : begin + count], self.kept[f"{name}/{layer}"], window)
                    torch.testing.assert_close(found[begin : begin + count], expected, rtol=1e-4, atol=1e-5)
                    begin += count

    def drop_behind(self, name: str, window: int) -> None:
        """Drop the pages that no later position sees."""
        stored = len(self.kept.get(f"{name}/0", ()))
        blocks, gone = self.blocks.get(name, []), self.gone.get(name, 0)
        count = Paging(PAGE, window).behind(stored) - gone
        self.cache.drop(name, blocks[:count])
        self.free += blocks[:count]
        del blocks[:count]
        self.gone[name] = gone + count

    def drop(self, name: str) -> None:
        self.gone.pop(name, None)
        blocks = self.blocks.pop(name, [])
        self.cache.drop(name, blocks)
        self.free += blocks
        for layer in range(self.cache.shape.layers):
            self.kept.pop(f"{name}/{layer}", None)

    def _slice(self, name: str, count: int) -> Slice:
        start = len(self.kept.get(f"{name}/0", ()))
        blocks, gone = self.blocks.setdefault(name, []), self.gone.get(name, 0)
        while (gone + len(blocks)) * PAGE < start + count:
            blocks.append(self.free.pop())
        return Slice(name, tuple(range(count)), start, blocks, True, gone)


def plain(queries: Tensor, kv: Tensor, window: int | None) -> Tensor:
    """The last queries of a session over all that it stored."""
    keys, values = kv.repeat_interleave(GROUPED, 2).permute(1, 2, 0, 3)
    ends = torch.arange(len(kv) - len(queries), len(kv))[:, None]
    at = torch.arange(len(kv))
    seen = (at <= ends) & (at > ends - (window or len(kv) + 1))
    return functional.scaled_dot_product_attention(queries.transpose(0, 1), keys, values, attn_mask=seen).transpose(
        0, 1
    )


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("drop"), st.sampled_from("abcd")),
        st.tuples(st.just("step"), st.dictionaries(st.sampled_from("abcd"), st.integers(1, 40), min_size=1)),
    ),
    max_size=10,
)


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 100))
def test_any_mix_of_sessions_sees_exactly_its_own_positions(steps: list, seed: int) -> None:
    told = Told(PagedCache(PageShape(2, HEADS, WIDTH, PAGE, torch.float32), 420, CPU))
    generator = torch.Generator().manual_seed(seed)
    for kind, what in steps:
        if kind == "drop":
            told.drop(what)
        else:
            told.step(list(what.items()), generator)


@settings(max_examples=12, deadline=None)
@given(STEPS, st.integers(0, 100))
def test_pages_behind_every_window_are_needed_by_nobody(steps: list, seed: int) -> None:
    told = Told(PagedCache(PageShape(2, HEADS, WIDTH, PAGE, torch.float32), 4 * 13, CPU))
    generator = torch.Generator().manual_seed(seed)
    for kind, what in steps:
        if kind == "drop":
            told.drop(what)
            continue
        told.step(list(what.items()), generator, windows=(9, 5))
        for name in what:
            told.drop_behind(name, 9)
            assert len(told.blocks[name]) <= 3


def test_pages_side_by_side_and_pages_far_apart_give_the_same() -> None:
    shape = PageShape(1, HEADS, WIDTH, PAGE, torch.float32)
    generator = torch.Generator().manual_seed(3)
    kv = torch.randn(30, 2, HEADS, WIDTH, generator=generator)
    query = torch.randn(1, HEADS * GROUPED, WIDTH, generator=generator)
    found = []
    for pages in (range(8), range(0, 400, 50)):
        cache = PagedCache(shape, 400, CPU)
        cache.write(0, cache.plan([Slice("a", tuple(range(30)), 0, pages, True)], [None]), kv)
        step = cache.plan([Slice("a", (1,), 30, pages, True)], [None])
        cache.write(0, step, kv[:1])
        found.append((step.narrow[0].pages[None].where, cache.attend(0, step, query, None)))
    assert [type(where) for where, _ in found] == [slice, Tensor]
    assert torch.equal(found[0][1], found[1][1])


@pytest.mark.parametrize(("dtype", "error"), [(torch.bfloat16, 0.02), (torch.float16, 0.002), (torch.int8, 0.02)])
def test_narrower_pages_are_near(dtype: torch.dtype, error: float) -> None:
    generator = torch.Generator().manual_seed(3)
    kv = torch.randn(50, 2, HEADS, WIDTH, generator=generator)
    queries = torch.randn(50, HEADS * GROUPED, WIDTH, generator=generator)
    cache = PagedCache(PageShape(1, HEADS, WIDTH, PAGE, dtype), 40, CPU)
    step = cache.plan([Slice("a", tuple(range(50)), 0, range(13), True)], [None])
    cache.write(0, step, kv)
    whole = cache.attend(0, step, queries, None)
    last = cache.plan([Slice("a", (1,), 49, range(13), True)], [None])
    single = cache.attend(0, last, queries[49:], None)
    expected = plain(queries, kv, None)
    assert float((whole - expected).abs().mean()) < error
    assert float((single - expected[49:]).abs().mean()) < error
    assert whole.dtype == torch.float32


def test_the_size_of_a_page_counts_all_layers_and_the_scales_of_int8() -> None:
    assert PageShape(5, 2, 64, 32, torch.bfloat16).block_bytes == 5 * 2 * 2 * 64 * 2 * 32
    assert PageShape(5, 2, 64, 32, torch.int8).block_bytes == 5 * 2 * 2 * (64 + 4) * 32


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for the memory of the process")
def test_memory_comes_with_the_first_write_and_leaves_with_the_drop() -> None:
    shape = PageShape(4, 8, 64, 32, torch.float32)
    before = resident()
    cache = PagedCache(shape, 1000, CPU)
    assert resident() - before < 4_000_000
    step = cache.plan([Slice("a", tuple(range(6400)), 0, range(200), True)], [None])
    for layer in range(4):
        cache.write(layer, step, torch.ones(6400, 2, 8, 64))
    held = resident()
    assert held - before > 0.9 * 200 * shape.block_bytes
    cache.drop("a", range(200))
    assert held - resident() > 0.9 * 200 * shape.block_bytes
    assert not cache._kv.any()
