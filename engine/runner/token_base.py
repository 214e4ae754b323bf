"""What a model of tokens must offer to run in the engine. Pure declarations: no torch at run time.

A *token runner* is one loaded model whose cache grows by a position for each token. The engine decides which
sessions are in a step, what tokens each adds and in which blocks their keys and values go; the runner computes. All
calls come from the loop thread; ``tokenizer`` alone may be used from any thread.

Accounting is the engine's (``engine.blocks``): the runner says how many blocks its cache has (``blocks``), how many
positions fit in one (``block_tokens``) and how large one is (``block_bytes``). Position ``p`` of a session is kept in
block ``slice.blocks[p // block_tokens - slice.first_block]``, at place ``p % block_tokens``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sayso.engine.parcel import Parcel

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Slice:
    """One session's part of a step: tokens whose keys and values are computed now."""

    session: str
    tokens: tuple[int, ...]
    """At least one; their positions are ``start``, ``start + 1``, …"""
    start: int
    """Positions whose keys and values exist already: the new tokens see all of them."""
    blocks: Sequence[int]
    """The session's block table; it reaches ``start + len(tokens)`` positions at least. It is a live view that only
    grows until ``drop`` names the session, so a runner may keep a copy on its device and add what is new."""
    logits: bool
    """Whether logits after the last token are wanted; not so for a part of a prompt that goes on in a later step."""
    first_block: int = 0
    """Which of the session's blocks the table begins with: those before it were behind the window and are dropped."""


class Tokenizer(Protocol):
    """Text to tokens and back, for one model."""

    def encode(self, text: str, *, first: bool) -> list[int]:
        """Tokens of a text; what the model wants before any text (a BOS token) only when ``first``."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes that a token adds to running text, its leading space included; none for a special token.

        A character may be spread over the bytes of several tokens.
        """
        ...


class TokenRunner(Protocol):
    """One loaded model of tokens."""

    name: str
    vocabulary: int
    """Token ids are 0 … ``vocabulary - 1``."""
    max_length: int
    """Positions that a session may have: tokens given and tokens generated together."""
    window: int | None
    """Positions that a token sees, itself included, in the layer that sees most; None where one sees all. Blocks
    wholly behind it are dropped while their session goes on."""
    eos_ids: frozenset[int]
    """Each of these ends a chunk's generation with the reason ``stop``, unless its parameters ignore them."""
    feeds_stop_token: bool
    """Whether the model must see its own stop token before the next chunk; most were trained to see it only as the
    end of their output, and it is then dropped like any last token."""
    tokenizer: Tokenizer | None
    """None when the model came without one: then prompts are token ids and outputs have no text."""

    blocks: int
    block_tokens: int
    block_bytes: int

    @property
    def weight_bytes(self) -> int: ...

    def forward(self, batch: Sequence[Slice]) -> Tensor:
        """Compute one step; slices of different sessions, of any age and length, equal to each on its own.

        Gives float32 logits [slices that ask for logits, vocabulary], in the order of ``batch``, on the runner's
        device. When it raises, the same positions may be computed again, so writing to the cache must be repeatable.
        An out-of-memory error may be raised as ``EngineError`` ``out_of_memory``, ``MemoryError`` or as torch does.
        """
        ...

    def drop(self, session: str, blocks: Sequence[int]) -> None:
        """What lies in these blocks of a session is not needed any more: their memory may go back to the system.

        They are all it held, when it ended or will be computed anew from position 0, or the first of them, which are
        behind its window. Its block table is another one from now on.
        """
        ...


@runtime_checkable
class PackingRunner(TokenRunner, Protocol):
    """A runner whose sessions can be put away and brought back."""

    def pack(self, blocks: Sequence[int]) -> Parcel:
        """A copy in host memory of what a session holds in these blocks; they are dropped afterwards."""
        ...

    def unpack(self, blocks: Sequence[int], parcel: Parcel) -> None:
        """Fill the first of a session's new blocks with what was packed; as many as were packed are given."""
        ...
