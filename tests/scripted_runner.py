"""A token runner without a network: what comes next is a function of the context that its cache really holds.

It reads the context back through the block table it is given and checks every entry on the way, so that any block that
is shared, lost, stale or written at a wrong place is a failure or another answer.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from sayso.engine.runner.token_base import Slice, Tokenizer

Context = tuple[int, ...]


class Letters:
    """A tokenizer with a token for each byte, and 256 for the beginning."""

    def encode(self, text: str, *, first: bool) -> list[int]:
        return [256] * first + list(text.encode())

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else b""


class ScriptedRunner:
    """``script`` gives the next token for a context; without one it is a hash of it."""

    name = "scripted"
    weight_bytes = 0

    def __init__(
        self,
        script: Callable[[Context], int] | None = None,
        *,
        blocks: int = 64,
        block_tokens: int = 4,
        max_length: int = 10_000,
        window: int | None = None,
        vocabulary: int = 97,
        eos_ids: Iterable[int] = (),
        feeds_stop_token: bool = False,
        tokenizer: Tokenizer | None = None,
        before: Callable[[Sequence[Slice]], None] | None = None,
    ) -> None:
        self.script = script
        self.blocks, self.block_tokens, self.block_bytes = blocks, block_tokens, block_tokens * 8
        self.max_length, self.window, self.vocabulary = max_length, window, vocabulary
        self.eos_ids, self.feeds_stop_token = frozenset(eos_ids), feeds_stop_token
        self.tokenizer = tokenizer
        self.before = before
        self.batches: list[tuple[Slice, ...]] = []
        self._kept: dict[tuple[int, int], tuple[str, int, int]] = {}
        """(block, place) → (session, position, token)"""

    def forward(self, batch: Sequence[Slice]) -> Tensor:
        assert batch
        assert len({part.session for part in batch}) == len(batch), "a session is twice in a batch"
        if self.before is not None:
            self.before(batch)
        self.batches.append(tuple(batch))
        rows = [self._compute(part) for part in batch]
        wanted = [row for row, part in zip(rows, batch, strict=True) if part.logits]
        return torch.stack(wanted) if wanted else torch.zeros(0, self.vocabulary)

    def drop(self, session: str, blocks: Sequence[int]) -> None:
        for block in blocks:
            for place in range(self.block_tokens):
                entry = self._kept.pop((block, place), None)
                assert entry is None or entry[0] == session, f"{session} dropped what {entry} holds"

    @property
    def kept(self) -> int:
        """Positions in the cache."""
        return len(self._kept)

    def _compute(self, part: Slice) -> Tensor:
        assert part.tokens
        for position, token in enumerate(part.tokens, part.start):
            old = self._kept.get(self._place(part, position))
            assert old is None or old[:2] == (part.session, position), f"{part.session} overwrites {old}"
            self._kept[self._place(part, position)] = (part.session, position, token)
        seen = range(self._sees_from(part.start + 1), part.start + len(part.tokens))
        entries = [self._kept[self._place(part, at)] for at in seen]
        assert [entry[:2] for entry in entries] == [(part.session, at) for at in seen]
        return self._logits(tuple(entry[2] for entry in entries))

    def _place(self, part: Slice, position: int) -> tuple[int, int]:
        number = position // self.block_tokens - part.first_block
        assert number >= 0, f"{part.session} asks for position {position}, which was given back"
        return part.blocks[number], position % self.block_tokens

    def _sees_from(self, length: int) -> int:
        """The first position that the last of so many sees."""
        return max(0, length - self.window) if self.window is not None else 0

    def _logits(self, context: Context) -> Tensor:
        context = context[self._sees_from(len(context)) :]
        if self.script is not None:
            row = torch.full((self.vocabulary,), -5.0)
            row[self.script(context)] = 5.0
            return row
        generator = torch.Generator().manual_seed(zlib.crc32(repr(context).encode()))
        return torch.randn(self.vocabulary, generator=generator)


def greedy(runner: ScriptedRunner, context: Context, count: int) -> list[int]:
    """What follows a context, token by token."""
    out: list[int] = []
    for _ in range(count):
        out.append(int(runner._logits((*context, *out)).argmax()))
    return out
