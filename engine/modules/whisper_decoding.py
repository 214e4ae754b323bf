"""Greedy decoding of a batch of prompts against encoder states, token by token with a static cache.

Every row carries its own prompt length, so rows with different stable prefixes share one batch; what a row gives does
not depend on the others. Runs on the thread that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from sayso.engine.modules.whisper_network import Cache, Network, Step

Ending = Literal["end_of_text", "rewound", "repeated", "limit"]


@dataclass(frozen=True)
class Prompt:
    """Tokens to start from: ``tokens[start]`` opens the transcript, those after ``text`` - 1 are already text."""

    tokens: tuple[int, ...]
    start: int
    text: int
    limit: int
    """The most tokens to add."""


@dataclass(frozen=True)
class Rules:
    """What may be chosen: ``suppressed`` is added to all logits [vocabulary], ``first`` to those of the first token."""

    end: int
    no_speech: int
    suppressed: torch.Tensor
    first: torch.Tensor
    must_stop: Callable[[Sequence[int]], bool]
    """Whether the tokens of a row have begun to repeat themselves."""


@dataclass
class Decoded:
    """One row's result. ``attention`` [heads, n + 1, positions]: row i is what was heard when text token i was chosen,
    counted from the first text token of the prompt; the last row belongs to the end."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: Ending = "limit"
    no_speech_probability: float = 0.0
    attention: torch.Tensor | None = None


def decode(
    network: Network, states: torch.Tensor, bias: torch.Tensor | None, prompts: Sequence[Prompt], rules: Rules
) -> list[Decoded]:
    """Decode every prompt against its row of ``states`` [batch, positions, width]."""
    lengths = [len(prompt.tokens) for prompt in prompts]
    limit = max(prompt.limit for prompt in prompts)
    cache = Cache(network.shape, len(prompts), max(lengths) + limit, states)
    network.decoder.listen(states, bias, cache)
    rows = [Decoded() for _ in prompts]
    hidden, attention = _prefill(network, prompts, rules.end, cache)
    heard = [attention]
    _hear_no_speech(network, hidden, prompts, rows, rules)
    last = hidden[torch.arange(len(prompts)), torch.tensor(lengths) - 1]
    running = set(range(len(prompts)))
    for step in range(limit + 1):
        first = rules.first if step == 0 else None
        chosen = _choose(network, last, prompts, rows, running, rules, first)
        if not running or step == limit:
            break
        last, attention = _advance(network, chosen, lengths, step, cache)
        heard.append(attention)
    for index, (prompt, row) in enumerate(zip(prompts, rows, strict=True)):
        row.attention = _heard_by(heard, index, prompt, len(row.tokens))
    return rows


def _prefill(network: Network, prompts: Sequence[Prompt], end: int, cache: Cache) -> tuple[torch.Tensor, torch.Tensor]:
    """All prompts at once; shorter ones are filled up at the right, where no real token looks."""
    longest = max(len(prompt.tokens) for prompt in prompts)
    padded = [prompt.tokens + (end,) * (longest - len(prompt.tokens)) for prompt in prompts]
    device = cache.keys.device
    slots = torch.arange(longest, device=device)
    mask = (slots[None, :] <= slots[:, None]) if longest > 1 else None
    step = Step(slots.expand(len(prompts), -1), longest, mask, same=True)
    return network.decoder(torch.tensor(padded, device=device), cache, step)


def _advance(
    network: Network, tokens: torch.Tensor, lengths: Sequence[int], step: int, cache: Cache
) -> tuple[torch.Tensor, torch.Tensor]:
    """One more token for every row: the states [batch, width] and the attention of the token after it."""
    device = cache.keys.device
    slots = torch.tensor(lengths, device=device)[:, None] + step
    used, same = max(lengths) + step + 1, min(lengths) == max(lengths)
    mask = None if same else (torch.arange(used, device=device) <= slots)[:, None, None]
    hidden, attention = network.decoder(tokens[:, None], cache, Step(slots, used, mask, same))
    return hidden[:, -1], attention


def _hear_no_speech(
    network: Network, hidden: torch.Tensor, prompts: Sequence[Prompt], rows: Sequence[Decoded], rules: Rules
) -> None:
    """The model's own opinion whether there is speech: a probability at the token that opens the transcript."""
    starts = torch.tensor([prompt.start for prompt in prompts])
    logits = network.decoder.logits(hidden[torch.arange(len(prompts)), starts])
    probabilities = torch.softmax(logits, -1)[:, rules.no_speech].tolist()
    for row, probability in zip(rows, probabilities, strict=True):
        row.no_speech_probability = probability


def _choose(
    network: Network,
    hidden: torch.Tensor,
    prompts: Sequence[Prompt],
    rows: Sequence[Decoded],
    running: set[int],
    rules: Rules,
    first: torch.Tensor | None,
) -> torch.Tensor:
    """Append the likeliest token to every running row and end those that are done; returns the tokens [batch]."""
    logits = network.decoder.logits(hidden) + rules.suppressed
    if first is not None:
        fresh = torch.tensor([len(prompt.tokens) == prompt.text for prompt in prompts], device=logits.device)
        logits = logits + torch.where(fresh[:, None], first, 0.0)  # not a product: -inf * 0 is not a number
    best, tokens = logits.max(-1)
    logprobs = (best - torch.logsumexp(logits, -1)).tolist()
    for index, token in enumerate(tokens.tolist()):
        if index not in running:
            continue
        row, prompt = rows[index], prompts[index]
        row.logprobs.append(logprobs[index])
        if token == rules.end:
            row.ended = "end_of_text"
            running.discard(index)
        elif len(row.tokens) >= prompt.limit:
            running.discard(index)
        else:
            row.tokens.append(token)
            if rules.must_stop(row.tokens):
                row.ended = "repeated"
                running.discard(index)
    return tokens


def _heard_by(heard: Sequence[torch.Tensor], index: int, prompt: Prompt, count: int) -> torch.Tensor:
    """One row's attention from its first text token on: [heads, known text + count + 1, positions]."""
    before = heard[0][index, :, prompt.text - 1 : len(prompt.tokens)]
    after = [attention[index] for attention in heard[1 : count + 1]]
    return torch.cat([before, *after], 1).float()
