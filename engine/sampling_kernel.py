"""Chooses the next token of every row of a batch, on the logits' device. Loop thread.

Each row's result depends on its own logits and its own random number only, so it is the same in any batch. The host
waits for the device once: for the chosen ids.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sayso.engine.arena import as_tensor
from sayso.engine.sampling import Choice, Chosen, Logprobs


@torch.inference_mode()
def choose(logits: Tensor, choices: Sequence[Choice]) -> list[Chosen]:
    """One token for each row of ``logits`` [rows, vocabulary], float32; may write to ``logits``."""
    if not choices:
        return []
    raw = logits.clone() if any(choice.banned and choice.params.logprobs is not None for choice in choices) else logits
    _ban(logits, choices)
    best, tokens = logits.max(-1)
    drawn = [row for row, choice in enumerate(choices) if not choice.params.greedy]
    if drawn:
        index = as_tensor(drawn, torch.int64, logits.device)
        picked = _draw(logits[index], [choices[row] for row in drawn])
        tokens = tokens.index_copy(0, index, picked)
    # Ids are exact in float64; a row with a number that is not one has it as its maximum.
    ids, maxima = torch.stack([tokens.double(), best.double()]).tolist()
    usable = [math.isfinite(maximum) for maximum in maxima]
    logprobs = _logprobs(raw, tokens, choices)
    return [
        Chosen(int(token), row) if good else Chosen(None)
        for token, row, good in zip(ids, logprobs, usable, strict=True)
    ]


def _ban(logits: Tensor, choices: Sequence[Choice]) -> None:
    rows = [row for row, choice in enumerate(choices) for _ in choice.banned]
    if rows:
        tokens = [token for choice in choices for token in choice.banned]
        device = logits.device
        logits[as_tensor(rows, torch.int64, device), as_tensor(tokens, torch.int64, device)] = -math.inf


def _draw(logits: Tensor, choices: Sequence[Choice]) -> Tensor:
    """Tokens drawn by their probabilities after temperature, top-k and top-p, in that order."""
    device, width = logits.device, logits.shape[-1]
    params = [choice.params for choice in choices]
    numbers = [[float(p.temperature), float(p.top_p), c.draw] for p, c in zip(params, choices, strict=True)]
    temperatures, share, draws = _columns(numbers, torch.float64, device)
    (kept,) = _columns([[p.top_k or width] for p in params], torch.int64, device)
    # The maximum goes first: a temperature near zero must not overflow.
    scaled = (logits - logits.amax(-1, keepdim=True)).double() / temperatures
    ordered, tokens = scaled.sort(dim=-1, descending=True, stable=True)
    ordered = ordered.masked_fill(torch.arange(width, device=device) >= kept, -math.inf)
    odds = ordered.softmax(-1)
    before = odds.cumsum(-1) - odds
    # The likeliest token always stays, as nothing comes before it.
    odds = odds.masked_fill((before >= share) & (share < 1), 0.0)
    reached = odds.cumsum(-1)
    place = torch.searchsorted(reached, draws * reached[:, -1:], right=True)
    # A row of numbers that are none has no last token; its choice is dropped later.
    last = ((odds > 0).sum(-1, keepdim=True) - 1).clamp_(min=0)
    return tokens.gather(1, torch.minimum(place, last)).squeeze(1)


def _columns(rows: list[list[float]] | list[list[int]], dtype: torch.dtype, device: torch.device) -> list[Tensor]:
    """The columns of a small table, each [rows, 1]."""
    flat = as_tensor([value for row in rows for value in row], dtype, device)
    return list(flat.view(len(rows), -1, 1).unbind(1))


def _logprobs(logits: Tensor, tokens: Tensor, choices: Sequence[Choice]) -> list[Logprobs | None]:
    out: list[Logprobs | None] = [None] * len(choices)
    rows = [row for row, choice in enumerate(choices) if choice.params.logprobs is not None]
    if not rows:
        return out
    index = as_tensor(rows, torch.int64, logits.device)
    every = logits[index].log_softmax(-1)
    found = every.gather(1, tokens[index].unsqueeze(1))
    ranks, chosen = (every > found).sum(-1).tolist(), found.squeeze(1).tolist()
    most = min(max(choices[row].params.logprobs or 0 for row in rows), logits.shape[-1])
    values, ids = (part.tolist() for part in every.topk(most, dim=-1))
    for at, row in enumerate(rows):
        top = tuple(zip(ids[at], values[at], strict=True))[: choices[row].params.logprobs]
        out[row] = Logprobs(chosen[at], ranks[at], top)
    return out
