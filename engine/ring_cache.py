"""Key and value rings of sessions whose model sees a fixed window: one slot each, all slots side by side.

A position is kept at its number modulo the ring's length. The rows of a batch are slots; neighbouring slots are
attended in one call, in place, and a mask says which entries each query sees, so that sessions of any age share a step
without gathering their rings. A ring is a little longer than the window, since the positions of one step come in
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from sayso.engine.arena import Arena
from sayso.engine.blocks import Blocks, Budget
from sayso.engine.device_memory import DeviceMemory
from sayso.engine.errors import EngineError

BLOCK = 32
"""Positions of which a step may take several at once without making a difference to any of them."""
_ROUND = 16
_INT8_ROWS = 2
_HIDDEN = float("-inf")


@dataclass(frozen=True)
class RingShape:
    """Rings of one stack of layers. ``most_new`` positions come in with one step at most."""

    layers: int
    heads: int
    head_width: int
    window: int
    most_new: int
    dtype: torch.dtype

    @property
    def length(self) -> int:
        """Entries of a ring."""
        return -(-(self.window - 1 + self.most_new) // _ROUND) * _ROUND

    def looked_at(self, last: int) -> int:
        """Entries that a query at this position looks at, those that it does not see included.

        They follow from its own position alone: how many there are decides in which order attention adds, so they must
        not come from whoever shares the step. There are few such numbers, so that sessions can share one, and all
        positions of a block have the same.
        """
        step = max(BLOCK, 1 << max(0, last.bit_length() - 2))
        return min(self.length, (last // step + 1) * step)

    @property
    def entry_bytes(self) -> int:
        """Of one position, all layers."""
        scale = 4 if self.dtype == torch.int8 else 0
        return self.layers * 2 * self.heads * (self.head_width * self.dtype.itemsize + scale)

    @property
    def slot_bytes(self) -> int:
        return self.entry_bytes * self.length

    def used_bytes(self, positions: int) -> int:
        """Of the entries that a session of this age has written."""
        return self.entry_bytes * min(positions, self.length)


@dataclass(frozen=True)
class Run:
    """Rows whose slots are neighbours, and how many entries of their rings are looked at."""

    rows: slice
    slots: slice
    length: int


@dataclass(frozen=True)
class RingStep:
    """Where the new positions of one step go and what their queries see. Made once, used by all layers."""

    slots: Tensor
    """[rows, 1]"""
    entries: Tensor
    """[rows, new]"""
    runs: tuple[Run, ...]
    masks: tuple[Tensor, ...]
    """For each run [rows, 1, queries, length]: 0 or minus infinity."""


class Rings:
    """Rings of all sessions for one stack. Keys and values are [slots, layers, 2 * heads, length, head_width]."""

    def __init__(self, shape: RingShape, slots: int, device: torch.device, memory: DeviceMemory | None = None) -> None:
        """``memory``: the device's, where it can be mapped."""
        self.shape = shape
        self.device = device
        part = (shape.layers, 2 * shape.heads, shape.length)
        self._arena = Arena(slots, (*part, shape.head_width), shape.dtype, device, memory)
        self._kv = self._arena.values
        self._scales: Arena | None = None
        if shape.dtype == torch.int8:
            self._scales = Arena(slots, (*part, 1), torch.float32, device, memory)
        self._wide = torch.empty(0, device=device)
        self._entries = torch.arange(shape.length, device=device)

    @property
    def flat(self) -> Tensor:
        """On the CPU: the memory of all slots [slots, elements], for those who write into it themselves."""
        return self._arena.flat

    def layer_start(self, layer: int) -> int:
        """Where a layer's [2 * heads, length, head_width] begins in a slot of ``flat``."""
        return layer * 2 * self.shape.heads * self.shape.length * self.shape.head_width

    @property
    def _arenas(self) -> tuple[Arena, ...]:
        return (self._arena, self._scales) if self._scales is not None else (self._arena,)

    def take(self, slot: int) -> None:
        """Memory for a slot; raises EngineError ``session_limit`` and changes nothing when there is none."""
        try:
            for arena in self._arenas:
                arena.take(slot)
        except EngineError:
            self._arena.release(slot)
            raise

    def release(self, slot: int) -> None:
        """Give a slot's memory back."""
        for arena in self._arenas:
            arena.release(slot)

    def cover(self, slots: int) -> None:
        """A step of ``fixed_plan`` follows over so many slots, whether somebody has them or not."""
        for arena in self._arenas:
            arena.cover(slots)

    def held_bytes(self, positions: int) -> int:
        """Memory that a session of this age holds, and gives back when it goes."""
        whole = [arena.taken_bytes for arena in self._arenas]
        return sum(filter(None, whole)) if None not in whole else self.shape.used_bytes(positions)

    @property
    def mapped_bytes(self) -> int:
        """Memory of the device that these rings have mapped."""
        return sum(arena.mapped_bytes for arena in self._arenas)

    def plan(self, slots: Sequence[int], starts: Sequence[int], new: int, grouped: int) -> RingStep:
        """A step that adds ``new`` positions after the ``starts`` that each session has; ``slots`` ascend.

        ``grouped`` query heads share a key head and come as more queries.
        """
        shape, last = self.shape, [start + new - 1 for start in starts]
        lengths = [shape.looked_at(at) for at in last]
        # Widened int8 runs are short, so that their buffer stays within the processor's cache.
        runs = _runs(slots, lengths, most_rows=_INT8_ROWS if self._scales is not None else len(slots))
        at = torch.tensor(last, device=self.device).unsqueeze(1)
        entries = (at - torch.arange(new - 1, -1, -1, device=self.device)) % shape.length
        masks = tuple(self._mask(at[run.rows], run.length, new, grouped) for run in runs)
        return RingStep(torch.tensor(slots, device=self.device).unsqueeze(1), entries, runs, masks)

    def fixed_plan(self, starts: Tensor, new: int, grouped: int) -> RingStep:
        """The same for the first slots, one for each of ``starts`` [rows], with shapes that depend on nothing else.

        It is made of operations on the device only, so a recorded graph can hold it. Slots that take no part write
        beyond what they have, where their next positions go.
        """
        length, rows = self.shape.length, len(starts)
        last = starts.unsqueeze(1) + new - 1
        entries = (starts.unsqueeze(1) + torch.arange(new, device=self.device)) % length
        run = Run(slice(0, rows), slice(0, rows), length)
        slots = torch.arange(rows, device=self.device).unsqueeze(1)
        return RingStep(slots, entries, (run,), (self._mask(last, length, new, grouped),))

    def _mask(self, last: Tensor, length: int, new: int, grouped: int) -> Tensor:
        """What each query sees: entries of its window that the session has written."""
        back = (last - self._entries[:length]) % self.shape.length
        back = torch.where(back <= last, back, self.shape.length + self.shape.window).unsqueeze(1)
        own = torch.arange(new - 1, -1, -1, device=self.device).unsqueeze(1)
        seen = (back >= own) & (back < own + self.shape.window)
        mask = torch.zeros(seen.shape, dtype=self.attention_dtype, device=self.device).masked_fill_(~seen, _HIDDEN)
        return mask.repeat(1, grouped, 1).unsqueeze(1) if grouped > 1 else mask.unsqueeze(1)

    @property
    def attention_dtype(self) -> torch.dtype:
        """Attention runs in the cache's type; int8 is widened to float32 first."""
        return torch.float32 if self.shape.dtype == torch.int8 else self.shape.dtype

    def write(self, layer: int, step: RingStep, kv: Tensor) -> None:
        """Store keys and values [rows, new, 2 * heads, head_width] of the step's positions."""
        if self._scales is None:
            self._kv[step.slots, layer, :, step.entries] = kv.to(self.shape.dtype)
            return
        scale = kv.abs().amax(-1, keepdim=True).clamp_(min=1e-12).div_(127.0).float()
        self._kv[step.slots, layer, :, step.entries] = (kv / scale).round_().to(torch.int8)
        self._scales.values[step.slots, layer, :, step.entries] = scale

    def attend(self, layer: int, step: RingStep, queries: Tensor) -> Tensor:
        """Attention of queries [rows, heads, queries, head_width], scaled by the root of the head's width."""
        heads, wanted = self.shape.heads, queries.dtype
        queries = queries.to(self.attention_dtype)
        parts = []
        for run, mask in zip(step.runs, step.masks, strict=True):
            kv = self._read(layer, run)
            out = functional.scaled_dot_product_attention(
                queries[run.rows], kv[:, :heads], kv[:, heads:], attn_mask=mask
            )
            parts.append(out)
        return (parts[0] if len(parts) == 1 else torch.cat(parts)).to(wanted)

    def _read(self, layer: int, run: Run) -> Tensor:
        """Keys and values of a run [rows, 2 * heads, length, head_width]; int8 is widened into a buffer kept for it."""
        kv = self._kv[run.slots, layer, :, : run.length]
        if self._scales is None:
            return kv
        if self._wide.numel() < kv.numel():
            self._wide = torch.empty(kv.numel(), device=self.device)
        wide = self._wide[: kv.numel()].view(kv.shape)
        return wide.copy_(kv).mul_(self._scales.values[run.slots, layer, :, : run.length])

    def copy_out(self, slot: int, positions: int) -> tuple[Tensor, ...]:
        """A copy of the first entries of a slot that holds ``positions`` positions from its origin on."""
        return tuple(part.clone() for part in self.used(slot, positions))

    def used(self, slot: int, positions: int) -> tuple[Tensor, ...]:
        """The entries in use of a slot that holds ``positions`` positions from its origin on, where they lie."""
        count = min(positions, self.shape.length)
        return tuple(arena.values[slot, :, :, :count] for arena in self._arenas)

    def copy_in(self, slot: int, copy: tuple[Tensor, ...]) -> None:
        """Let a slot begin as ``copy_out`` found it."""
        for arena, part in zip(self._arenas, copy, strict=True):
            arena.values[slot, :, :, : part.shape[2]] = part


class Slots:
    """Which slots are free, accounted in ``engine.blocks``: a slot is a block as large as all its rings."""

    def __init__(self, count: int, slot_bytes: int = 0, budget: Budget | None = None) -> None:
        self.count, self._slot_bytes, self._budget = count, slot_bytes, budget
        self._blocks = Blocks(count, slot_bytes, budget)
        self._owners: dict[int, str] = {}
        self._taken = 0

    @property
    def used(self) -> int:
        return self._blocks.used

    def take(self) -> int:
        """A free slot, the lowest; raises EngineError ``session_limit`` when there is none, or no memory for one."""
        if self.used == self.count:
            raise EngineError("session_limit", f"All {self.count} places for sessions of this model are taken.")
        if self._budget is not None and not self._budget.make_room(self._slot_bytes):
            text = f"There is no memory for one session of this model more; {self.used} are open. Try again later."
            raise EngineError("session_limit", text)
        owner = f"slot {self._taken}"
        self._taken += 1
        self._blocks.take({owner: 1})
        slot = self._blocks.held(owner)[0]
        self._owners[slot] = owner
        return slot

    def give_back(self, slot: int) -> None:
        self._blocks.give_back(self._owners.pop(slot))


def _runs(slots: Sequence[int], lengths: Sequence[int], most_rows: int) -> tuple[Run, ...]:
    """Neighbouring slots that look at as many entries together."""
    runs: list[Run] = []
    begin = 0
    for row in range(1, len(slots) + 1):
        neighbour = row < len(slots) and slots[row] == slots[row - 1] + 1 and lengths[row] == lengths[begin]
        if neighbour and row - begin < most_rows:
            continue
        runs.append(Run(slice(begin, row), slice(slots[begin], slots[row - 1] + 1), lengths[begin]))
        begin = row
    return tuple(runs)
