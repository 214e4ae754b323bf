"""How much cache memory there is and who has it: accounting only, no tensors. Loop thread.

A *block* is the unit that a cache hands out: a page of some positions of a growing cache, or the whole ring of a
session whose model has a fixed window. Blocks are numbered, and the lowest are given first, so that those in use stay
neighbours. Caches of one process may draw on one ``Budget`` of bytes, whatever their blocks are. Whoever needs blocks
*asks* for all that a step needs and then *takes* them: it gets everything or nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sayso.engine.errors import EngineError


class OutOfBlocks(EngineError):  # noqa: N818 - it names what happened, as MemoryError does
    """More was taken than there is; nothing was given."""


@dataclass(frozen=True)
class Paging:
    """Which blocks of a growing cache a session needs: those its next tokens are kept in, and those that they see.

    A session's blocks are counted from its first position on. ``window`` is how many positions a token sees, itself
    included; None: all. What lies wholly behind it is needed by nobody.
    """

    block_tokens: int
    window: int | None = None

    def reaching(self, positions: int) -> int:
        """Blocks that so many positions take."""
        return -(-positions // self.block_tokens)

    def behind(self, computed: int) -> int:
        """The first so many blocks are seen by no token from position ``computed`` on."""
        return max(0, computed - self.window + 1) // self.block_tokens if self.window is not None else 0

    def portion(self, blocks: int) -> int:
        """Tokens that a session of any age can compute at once with so many blocks.

        0 where a session can only become as long as its blocks: without a window, or with less memory than one takes.
        """
        return max(0, (blocks - 1) * self.block_tokens - self.window + 2) if self.window is not None else 0


class Budget:
    """Bytes that the caches of one process may hold together."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.taken_bytes = 0
        self.returns = 0
        """How often something was given back: who found no room need not look again before this changes."""
        self.lenders: list[Callable[[int], None]] = []
        """Whoever can do without some of what it took: asked for bytes, it gives them back, or nothing."""

    @property
    def free_bytes(self) -> int:
        return self.total_bytes - self.taken_bytes

    def take(self, nbytes: int) -> None:
        """Raises ``OutOfBlocks`` ``out_of_memory`` and changes nothing when there is not so much."""
        if nbytes > self.free_bytes:
            raise OutOfBlocks("out_of_memory", f"{nbytes} bytes of cache are needed and {self.free_bytes} are free.")
        self.taken_bytes += nbytes

    def make_room(self, nbytes: int) -> bool:
        """Whether so many bytes can be taken, perhaps because a lender gave some back."""
        for lender in self.lenders:
            if nbytes > self.free_bytes:
                lender(nbytes - self.free_bytes)
        return nbytes <= self.free_bytes

    def give_back(self, nbytes: int) -> None:
        self.taken_bytes -= nbytes
        self.returns += 1


class Blocks:
    """``count`` blocks of ``block_bytes`` each, some of them held by owners."""

    def __init__(self, count: int, block_bytes: int = 0, budget: Budget | None = None) -> None:
        self.count = count
        self.block_bytes = block_bytes
        self._budget = budget
        self._free = list(range(count))
        self._held: dict[str, list[int]] = {}

    @property
    def free(self) -> int:
        """Blocks that could be taken now."""
        if self._budget is None or not self.block_bytes:
            return len(self._free)
        return min(len(self._free), self._budget.free_bytes // self.block_bytes)

    @property
    def used(self) -> int:
        return self.count - len(self._free)

    @property
    def owners(self) -> frozenset[str]:
        return frozenset(self._held)

    def held(self, owner: str) -> Sequence[int]:
        """The owner's blocks in the order taken: a live view, which grows at its end and shrinks at its beginning."""
        return self._held.get(owner, ())

    def ask(self, wants: Mapping[str, int]) -> bool:
        """Whether ``take`` would give all of this."""
        return sum(wants.values()) <= self.free

    def take(self, wants: Mapping[str, int]) -> None:
        """Give each owner that many blocks more: all of them, or ``OutOfBlocks`` and nothing is changed."""
        number = sum(wants.values())
        if number > self.free:
            raise OutOfBlocks("out_of_memory", f"{number} cache blocks are needed and {self.free} are free.")
        if self._budget is not None:
            self._budget.take(number * self.block_bytes)
        for owner, want in wants.items():
            if want:
                self._held.setdefault(owner, []).extend(heapq.heappop(self._free) for _ in range(want))

    def give_back(self, owner: str) -> tuple[int, ...]:
        """Free all that the owner holds and say which blocks those were; an owner of nothing has none."""
        return self.give_back_first(owner, len(self.held(owner)))

    def give_back_first(self, owner: str, count: int) -> tuple[int, ...]:
        """Free so many of the owner's blocks, those taken first, and say which those were."""
        held = self._held.get(owner, [])
        blocks = tuple(held[:count])
        del held[:count]
        if not held:
            self._held.pop(owner, None)
        for block in blocks:
            heapq.heappush(self._free, block)
        if self._budget is not None:
            self._budget.give_back(len(blocks) * self.block_bytes)
        return blocks
