"""Causal text models, such as Llama, Mistral and Qwen: tokens in, the next token's logits out. Loop thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import psutil
import torch
from torch import Tensor

from sayso.engine import packing
from sayso.engine.arena import as_tensor
from sayso.engine.modules import causal_rope
from sayso.engine.modules.builder import Builder, Precision
from sayso.engine.modules.causal_network import CausalNetwork
from sayso.engine.modules.causal_shape import CausalShape, read_shape
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.rope import Rope
from sayso.engine.modules.stored_tensors import StoredTensors, stored_files
from sayso.engine.paged_cache import PagedCache, PageShape
from sayso.engine.parcel import Parcel
from sayso.engine.runner.token_base import Slice, Tokenizer
from sayso.engine.step_threads import StepThreads
from sayso.engine.tokenizer import folder_tokenizer

if TYPE_CHECKING:
    from sayso.engine.catalog import ModelFiles

BLOCK_TOKENS = 32
"""Positions in a page: few enough to waste little, enough for a page to be worth a call."""
_MEMORY_SHARE = 0.5
"""Of the memory that is free once the weights are there, so much may become cache."""
_MOST_POSITIONS = 1 << 22


class CausalRunner:
    """See ``engine.runner.token_base.TokenRunner``."""

    feeds_stop_token = False

    def __init__(
        self,
        name: str,
        network: CausalNetwork,
        tokenizer: Tokenizer | None,
        cache: PagedCache,
        dtype: torch.dtype,
    ) -> None:
        shape = network.shape
        self.name = name
        self.vocabulary, self.max_length, self.eos_ids = shape.vocabulary, shape.max_length, shape.eos_ids
        self.window = shape.window
        self.tokenizer: Tokenizer | None = tokenizer
        self.blocks, self.block_tokens = cache.pages, cache.shape.block_tokens
        self.block_bytes = cache.shape.block_bytes
        self._network = network
        self._cache = cache
        self._device = cache.device
        self._shared = StepThreads(torch.get_num_threads())
        steps, scale = causal_rope.steps(shape.rope, shape.head_width), causal_rope.scale(shape.rope)
        self._rope = Rope(steps, dtype, cache.device, scale)

    @classmethod
    def load(
        cls,
        files: ModelFiles,
        device: str,
        precision: str = "auto",
        *,
        cache_bytes: int | None = None,
        block_tokens: int = BLOCK_TOKENS,
    ) -> CausalRunner:
        """The model of a folder in transformers' layout; ``precision`` as in ``choose_precision``.

        ``cache_bytes`` bounds the memory for keys and values; without it half of what is free is theirs. Raises
        EngineError ``model_not_found``, ``model_damaged``, ``model_unsupported``, ``bad_tokenizer``,
        ``precision_unknown`` or ``out_of_memory``.
        """
        place = torch.device(device)
        chosen = choose_precision(precision, place)
        shape = read_shape(files.folder)
        tokenizer = folder_tokenizer(files.folder)
        weights = StoredTensors(files.folder, stored_files(files.folder))
        network = CausalNetwork(Builder(weights, chosen, place), shape).eval()
        pages = page_shape(shape, chosen, block_tokens)
        count = page_count(pages, cache_bytes if cache_bytes is not None else _free_bytes(place))
        return cls(files.name, network, tokenizer, PagedCache(pages, count, place), chosen.compute)

    @property
    def weight_bytes(self) -> int:
        return self._network.weight_bytes

    @torch.inference_mode()
    def forward(self, batch: Sequence[Slice]) -> Tensor:
        """See ``TokenRunner.forward``; nothing here waits for the device."""
        if self._device.type != "cpu":
            return self._forward(batch)
        with self._shared.step(sum(len(part.tokens) for part in batch).bit_length()):
            return self._forward(batch)

    def _forward(self, batch: Sequence[Slice]) -> Tensor:
        step = self._cache.plan(batch, self._network.shape.windows)
        tokens = as_tensor([token for part in batch for token in part.tokens], torch.int64, self._device)
        rows, end = [], 0
        for part in batch:
            end += len(part.tokens)
            if part.logits:
                rows.append(end - 1)
        angles = self._rope.angles(step.positions)
        return self._network(tokens, as_tensor(rows, torch.int64, self._device), angles, self._cache, step)

    def drop(self, session: str, blocks: Sequence[int]) -> None:
        """See ``TokenRunner.drop``."""
        self._cache.drop(session, blocks)

    def pack(self, blocks: Sequence[int]) -> Parcel:
        """See ``PackingRunner.pack``."""
        return packing.pack(self._cache.views(blocks), None)

    def unpack(self, blocks: Sequence[int], parcel: Parcel) -> None:
        """See ``PackingRunner.unpack``."""
        packing.unpack(parcel, self._cache.views(blocks))


def page_shape(shape: CausalShape, precision: Precision, block_tokens: int) -> PageShape:
    """The pages of a model."""
    return PageShape(shape.layers, shape.kv_heads, shape.head_width, block_tokens, precision.cache)


def page_count(pages: PageShape, cache_bytes: int) -> int:
    """Pages that fit into so much memory."""
    return max(1, min(cache_bytes // pages.block_bytes, _MOST_POSITIONS // pages.block_tokens))


def _free_bytes(device: torch.device) -> int:
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available
    return int(_MEMORY_SHARE * free)
