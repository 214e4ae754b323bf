"""Keys and values of sessions whose cache grows: pages handed out by number, attended where they lie. Loop thread.

A page holds ``block_tokens`` positions of one session. Attention of sessions that add few positions, such as those
that decode, runs over the pages of all of them at once: each page gives scores for its owner's queries, and the
parts of an owner are joined by their sums, so that no session's keys are copied together and no Python work grows
with a session's age. A long stretch of a prompt has its session's pages gathered, which costs little beside its own
arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sayso.engine.arena import Arena
from sayso.engine.runner.token_base import Slice

_HIDDEN = float("-inf")
_NARROW = 4
"""Most positions of a session that are attended page by page; for more, gathering its pages is quicker."""
_SPARSE = 2
"""Pages lying apart are gathered when their range holds this many times as many."""


@dataclass(frozen=True)
class PageShape:
    """Pages of one model."""

    layers: int
    heads: int
    head_width: int
    block_tokens: int
    dtype: torch.dtype

    @property
    def block_bytes(self) -> int:
        """Of one page, all layers."""
        scale = 4 if self.dtype == torch.int8 else 0
        entry = self.layers * 2 * self.heads * (self.head_width * self.dtype.itemsize + scale)
        return entry * self.block_tokens


@dataclass(frozen=True)
class Pages:
    """Pages that some rows look at. ``where`` is a range of neighbours or the pages' numbers."""

    where: slice | Tensor
    owners: Tensor
    """The row whose page it is [pages]; pages of nobody here have the number of rows."""
    hidden: Tensor
    """0 or minus infinity [pages, 1, 1, queries, block_tokens]."""


@dataclass(frozen=True)
class Narrow:
    """Slices of few tokens, attended together; rows with fewer than the most repeat their last token."""

    tokens: Tensor
    """Places in the step's tokens [rows, queries]."""
    pages: dict[int | None, Pages]


@dataclass(frozen=True)
class Gathered:
    """The pages that one long slice looks at, as one stretch of ``length`` positions."""

    numbers: Tensor
    length: int
    seen: Tensor | None
    """[queries, length], None when every query sees exactly what comes before it."""


@dataclass(frozen=True)
class Wide:
    """One long slice."""

    tokens: slice
    pages: dict[int | None, Gathered]


@dataclass(frozen=True)
class PageStep:
    """Where the tokens of a step go and what they see. Made once, used by all layers."""

    positions: Tensor
    """[tokens]"""
    blocks: Tensor
    places: Tensor
    """The page and the place in it of each token [tokens]."""
    narrow: tuple[Narrow, ...]
    wide: tuple[Wide, ...]


class _Table:
    """A session's page numbers, as an array that grows by doubling."""

    def __init__(self) -> None:
        self._numbers = np.empty(16, np.int64)
        self._count = 0

    def follow(self, blocks: Sequence[int]) -> np.ndarray:
        """Take over what the live view has gained."""
        count = len(blocks)
        if count > len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.empty(max(count, len(self._numbers)), np.int64)])
        if count > self._count:
            self._numbers[self._count : count] = blocks[self._count : count]
            self._count = count
        return self._numbers[:count]


class PagedCache:
    """Pages of all sessions. Keys and values are [layers, 2, pages, heads, block_tokens, head_width]."""

    def __init__(self, shape: PageShape, pages: int, device: torch.device) -> None:
        self.shape, self.pages, self.device = shape, pages, device
        part = (shape.heads, shape.block_tokens, shape.head_width)
        self._arena = Arena(shape.layers * 2 * pages, part, shape.dtype, device)
        self._kv = self._arena.values.unflatten(0, (shape.layers, 2, pages))
        self._scales: Arena | None = None
        if shape.dtype == torch.int8:
            part = (shape.layers * 2, shape.heads, shape.block_tokens)
            self._scales = Arena(pages, part, torch.float32, device)
        self._tables: dict[str, _Table] = {}

    def drop(self, session: str, blocks: Iterable[int]) -> None:
        """Forget a session's table and give the memory of these pages back to the operating system."""
        self._tables.pop(session, None)
        for first, count in _neighbours(blocks):
            for layer in range(self.shape.layers * 2):
                self._arena.release(layer * self.pages + first, count)
            if self._scales is not None:
                self._scales.release(first, count)

    def views(self, blocks: Iterable[int]) -> list[Tensor]:
        """All that lies in these pages, page by page, where it lies."""
        views = [self._kv[:, :, block] for block in blocks]
        if self._scales is not None:
            views += [self._scales.values[block] for block in blocks]
        return views

    # A step's plan.

    def plan(self, batch: Sequence[Slice], windows: Iterable[int | None]) -> PageStep:
        """What the layers of a step need; ``windows`` are those that layers have: positions that a query sees."""
        kinds = tuple(dict.fromkeys(windows))
        tables = [self._tables.setdefault(part.session, _Table()).follow(part.blocks) for part in batch]
        counts = [len(part.tokens) for part in batch]
        ends = np.cumsum(counts)
        positions = np.concatenate([np.arange(part.start, part.start + len(part.tokens)) for part in batch])
        size = self.shape.block_tokens
        blocks = np.concatenate(
            [
                table[np.arange(part.start, part.start + len(part.tokens)) // size - part.first_block]
                for part, table in zip(batch, tables, strict=True)
            ]
        )
        narrow: dict[bool, list[int]] = {}
        wide: list[Wide] = []
        for row, count in enumerate(counts):
            if count <= _NARROW:
                narrow.setdefault(count == 1, []).append(row)
            else:
                tokens = slice(int(ends[row] - count), int(ends[row]))
                wide.append(Wide(tokens, {kind: self._gathered(batch[row], tables[row], kind) for kind in kinds}))
        return PageStep(
            self._tensor(positions),
            self._tensor(blocks),
            self._tensor(positions % size),
            tuple(
                self._narrow([batch[row] for row in rows], [tables[row] for row in rows], ends[rows], kinds)
                for rows in narrow.values()
            ),
            tuple(wide),
        )

    def _narrow(
        self, parts: Sequence[Slice], tables: Sequence[np.ndarray], ends: np.ndarray, kinds: Sequence[int | None]
    ) -> Narrow:
        counts = np.array([len(part.tokens) for part in parts])
        offsets = np.minimum(np.arange(counts.max()), counts[:, None] - 1)
        starts = np.array([part.start for part in parts])
        queries = self._tensor(starts[:, None] + offsets)
        lasts = starts + counts - 1
        dropped = np.array([part.first_block for part in parts])
        pages = {kind: self._pages(tables, dropped, starts, lasts, queries, kind) for kind in kinds}
        return Narrow(self._tensor((ends - counts)[:, None] + offsets), pages)

    def _pages(
        self,
        tables: Sequence[np.ndarray],
        dropped: np.ndarray,
        starts: np.ndarray,
        lasts: np.ndarray,
        queries: Tensor,
        window: int | None,
    ) -> Pages:
        size, rows = self.shape.block_tokens, len(tables)
        firsts = np.zeros(rows, np.int64) if window is None else np.maximum(0, starts - window + 1) // size
        ends = lasts // size + 1
        spans = ends - firsts
        parts = zip(tables, firsts - dropped, ends - dropped, strict=True)
        numbers = np.concatenate([table[a:b] for table, a, b in parts])
        owners = np.repeat(np.arange(rows), spans)
        # The position of each page's first entry, from the page's number within its session.
        begins = size * (np.arange(len(numbers)) - np.repeat(np.cumsum(spans) - spans - firsts, spans))
        low, high = int(numbers.min()), int(numbers.max()) + 1
        where: slice | Tensor = slice(low, high)
        if high - low > _SPARSE * len(numbers):
            where = self._tensor(numbers)
        else:
            own, at = np.full(high - low, rows), np.zeros(high - low, np.int64)
            own[numbers - low], at[numbers - low] = owners, begins
            owners, begins = own, at
        owned = self._tensor(owners)
        keys = self._tensor(begins)[:, None, None] + torch.arange(size, device=self.device)
        seen = _seen(queries[owned.clamp(max=rows - 1)].unsqueeze(-1), keys, window)
        seen &= (owned < rows)[:, None, None]
        hidden = torch.zeros(seen.shape, device=self.device).masked_fill_(~seen, _HIDDEN)
        return Pages(where, owned, hidden[:, None, None])

    def _gathered(self, part: Slice, table: np.ndarray, window: int | None) -> Gathered:
        size, count = self.shape.block_tokens, len(part.tokens)
        end = part.start + count
        first = 0 if window is None else max(0, part.start - window + 1) // size
        numbers = self._tensor(table[first - part.first_block : -(-end // size) - part.first_block])
        length = end - first * size
        if part.start == 0 and (window is None or window >= count):
            return Gathered(numbers, length, None)
        queries = torch.arange(part.start, end, device=self.device)[:, None]
        keys = torch.arange(first * size, end, device=self.device)
        return Gathered(numbers, length, _seen(queries, keys, window))

    def _tensor(self, values: np.ndarray) -> Tensor:
        host = torch.from_numpy(np.ascontiguousarray(values))
        return host if self.device.type == "cpu" else host.to(self.device, non_blocking=True)

    # A layer's part of a step.

    def write(self, layer: int, step: PageStep, kv: Tensor) -> None:
        """Store keys and values [tokens, 2, heads, head_width] of the step's tokens."""
        if self._scales is not None:
            scale = kv.abs().amax(-1, keepdim=True).float().clamp_(min=1e-12).div_(127.0)
            kv = (kv / scale).round_()
            both = self._scales.values.unflatten(1, (self.shape.layers, 2))[:, layer]
            both[step.blocks, :, :, step.places] = scale.squeeze(-1)
        self._kv[layer][:, step.blocks, :, step.places] = kv.to(self.shape.dtype)

    def attend(self, layer: int, step: PageStep, queries: Tensor, window: int | None) -> Tensor:
        """Attention of queries [tokens, query heads, head_width], scaled by the root of the head's width."""
        out = torch.empty_like(queries)
        for group in step.narrow:
            out[group.tokens] = self._attend_pages(layer, group.pages[window], queries[group.tokens]).to(out.dtype)
        for part in step.wide:
            out[part.tokens] = self._attend_gathered(layer, part.pages[window], queries[part.tokens]).to(out.dtype)
        return out

    def _attend_pages(self, layer: int, pages: Pages, queries: Tensor) -> Tensor:
        """Queries [rows, queries, query heads, head_width] to the same shape, in float32."""
        rows, each, _, width = queries.shape
        heads = self.shape.heads
        scaled = queries.float().mul_(width**-0.5).unflatten(2, (heads, -1)).permute(0, 2, 3, 1, 4)
        grouped = scaled.shape[2]
        owners = pages.owners
        spread = scaled[owners.clamp(max=rows - 1)].flatten(0, 1).flatten(1, 2)
        keys, values = (self._kv[layer, half, pages.where].flatten(0, 1).float() for half in (0, 1))
        scores = torch.bmm(spread, keys.transpose(1, 2)).view(-1, heads, grouped, each, self.shape.block_tokens)
        scores = self._scaled(scores, layer, 0, pages.where).add_(pages.hidden)
        most = scores.new_full((rows + 1, heads, grouped, each), _HIDDEN)
        highest = scores.amax(-1)
        most.scatter_reduce_(0, owners[:, None, None, None].expand_as(highest), highest, "amax")
        most[rows] = 0.0
        weights = scores.sub_(most[owners].unsqueeze(-1)).exp_()
        total = torch.zeros_like(most).index_add_(0, owners, weights.sum(-1))
        weights = self._scaled(weights, layer, 1, pages.where).flatten(0, 1).flatten(1, 2)
        parts = torch.bmm(weights, values).view(-1, heads, grouped, each, width)
        out = parts.new_zeros((rows + 1, heads, grouped, each, width)).index_add_(0, owners, parts)
        return (out[:rows] / total[:rows].unsqueeze(-1)).permute(0, 3, 1, 2, 4).flatten(2, 3)

    def _scaled(self, values: Tensor, layer: int, half: int, where: slice | Tensor) -> Tensor:
        """Values [pages, heads, …, block_tokens] times what an int8 page's entries stand for."""
        if self._scales is None:
            return values
        return values.mul_(self._scales.values[where, 2 * layer + half][:, :, None, None])

    def _attend_gathered(self, layer: int, pages: Gathered, queries: Tensor) -> Tensor:
        """Queries [queries, query heads, head_width] to the same shape."""
        heads = self.shape.heads
        keys, values = (self._stretch(layer, half, pages) for half in (0, 1))
        asked = queries.to(keys.dtype).unflatten(1, (heads, -1)).permute(1, 2, 0, 3)
        # The key heads stand for their groups of query heads without being copied.
        keys, values = (each.unsqueeze(1).expand(-1, asked.shape[1], -1, -1) for each in (keys, values))
        seen = functional.scaled_dot_product_attention(
            asked, keys, values, attn_mask=pages.seen, is_causal=pages.seen is None
        )
        return seen.permute(2, 0, 1, 3).flatten(1, 2)

    def _stretch(self, layer: int, half: int, pages: Gathered) -> Tensor:
        """Keys or values of one session [heads, length, head_width]; int8 is widened to float32."""
        found = self._kv[layer, half].index_select(0, pages.numbers)
        if self._scales is not None:
            found = found * self._scales.values[pages.numbers, 2 * layer + half].unsqueeze(-1)
        return found.transpose(0, 1).flatten(1, 2)[:, : pages.length]


def _seen(queries: Tensor, keys: Tensor, window: int | None) -> Tensor:
    """Whether queries see keys, by position."""
    seen = keys <= queries
    return seen if window is None else seen & (keys > queries - window)


def _neighbours(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Runs (first, count) of neighbouring numbers."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((number, 1))
    return runs
