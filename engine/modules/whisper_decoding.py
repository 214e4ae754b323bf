"""Greedy decoding of a batch of prompts against encoder states, token by token with a static cache.

Every row carries its own prompt length, so rows with different stable prefixes share one batch; what a row gives does
not depend on the others. Runs on the thread that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Literal

import torch

from sayso.engine.modules.whisper_network import Cache, Network, Step

Ending = Literal["end_of_text", "rewound", "repeated", "limit"]
Attention = Callable[[], torch.Tensor]
Keep = Callable[[Sequence[int], int, int, Attention], int | None]
"""Given a row's new tokens, its number of known text tokens, its row of the batch and the attention of all its text
tokens: how many of the new tokens to keep and stop, or None to go on."""


@dataclass(frozen=True)
class Prompt:
    """Tokens to start from: ``tokens[start]`` opens the transcript; those from ``text`` on are text already."""

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
    keep: Keep


@dataclass(frozen=True)
class Other:
    """A text that was followed and not taken; ``logprob`` is the sum over its tokens, and over its end if it came."""

    tokens: tuple[int, ...]
    logprob: float
    ended: bool


@dataclass
class Decoded:
    """One row's result. ``attention`` [heads, n + 1, positions]: row i is what was heard when text token i was chosen,
    counted from the first text token of the prompt; the last row belongs to the end."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: Ending = "limit"
    no_speech_probability: float = 0.0
    attention: torch.Tensor | None = None
    others: tuple[Other, ...] = ()
    """From a beam search: what else was followed to its end or was being followed then, in no order."""
    expected: tuple[Other, ...] = ()
    """Of the sentences that were expected, those nearly as likely, the likeliest first."""


def decode(
    network: Network, states: torch.Tensor, bias: torch.Tensor | None, prompts: Sequence[Prompt], rules: Rules
) -> list[Decoded]:
    """Decode every prompt against its row of ``states`` [batch, positions, width]; ``bias`` [positions]."""
    batch = Batch(network, states, bias, prompts, rules)
    greedy = _Greedy(batch, prompts, rules)
    greedy.choose(batch.allowed(batch.prefill(), fresh=True))
    while greedy.running:
        greedy.choose(batch.allowed(batch.advance(greedy.chosen), fresh=False))
    return greedy.results()


class Batch:
    """The rows of one decode: their cache, and the attention so far."""

    def __init__(
        self,
        network: Network,
        states: torch.Tensor,
        bias: torch.Tensor | None,
        prompts: Sequence[Prompt],
        rules: Rules,
    ) -> None:
        self._decoder, self._prompts, self._rules = network.decoder, prompts, rules
        self.device = states.device
        self._lengths = [len(prompt.tokens) for prompt in prompts]
        most = max(self._lengths) + max(prompt.limit for prompt in prompts)
        self._cache = Cache(network.shape, len(prompts), most, states)
        self._decoder.listen(states, bias, self._cache)
        self._heard: list[torch.Tensor] = []
        self._steps = 0
        self.silent: list[float] = []
        """Each prompt's probability that nothing was said."""

    def prefill(self) -> torch.Tensor:
        """All prompts at once, shorter ones filled up at the right, where no real token looks; the last logits."""
        longest, batch = max(self._lengths), len(self._prompts)
        padded = [prompt.tokens + (self._rules.end,) * (longest - len(prompt.tokens)) for prompt in self._prompts]
        slots = torch.arange(longest, device=self.device)
        mask = (slots[None, :] <= slots[:, None]) if longest > 1 else None
        step = Step(slots.expand(batch, -1), longest, mask, same=True)
        hidden, attention = self._decoder(torch.tensor(padded, device=self.device), self._cache, step)
        self._heard.append(attention)
        rows = torch.arange(batch, device=self.device)
        starts = torch.tensor([prompt.start for prompt in self._prompts], device=self.device)
        ends = torch.tensor(self._lengths, device=self.device) - 1
        logits = self._decoder.logits(torch.cat([hidden[rows, starts], hidden[rows, ends]]))
        self.silent = torch.softmax(logits[:batch], -1)[:, self._rules.no_speech].tolist()
        return logits[batch:]

    def advance(self, tokens: torch.Tensor) -> torch.Tensor:
        """Feed a token [rows] to every row: the logits [rows, vocabulary] of the next ones."""
        slots = torch.tensor(self._lengths, device=self.device)[:, None] + self._steps
        used, same = max(self._lengths) + self._steps + 1, min(self._lengths) == max(self._lengths)
        mask = None if same else (torch.arange(used, device=self.device) <= slots)[:, None, None]
        hidden, attention = self._decoder(tokens[:, None], self._cache, Step(slots, used, mask, same))
        self._heard.append(attention)
        self._steps += 1
        return self._decoder.logits(hidden[:, -1])

    def allowed(self, logits: torch.Tensor, *, fresh: bool) -> torch.Tensor:
        """The logits with what may not be chosen far below all others; ``fresh`` ones are the prefill's."""
        logits = logits + self._rules.suppressed
        if fresh:
            empty = [len(prompt.tokens) == prompt.text for prompt in self._prompts]
            logits = torch.where(torch.tensor(empty, device=self.device)[:, None], logits + self._rules.first, logits)
        return logits

    def alone(self, index: int) -> Batch:
        """Right after the prefill: a batch of this prompt only, as it is now whatever becomes of this one."""
        other = copy(self)
        other._cache = self._cache.alone(index)
        other._prompts, other._lengths = [self._prompts[index]], [self._lengths[index]]
        other._heard = []
        return other

    def widen(self, times: int) -> None:
        """After the prefill: so many rows for every prompt, all as its one was."""
        self._cache.repeat(times)
        self._lengths = [length for length in self._lengths for _ in range(times)]

    def reorder(self, parents: Sequence[int]) -> None:
        """Every row goes on where row ``parents[row]`` was; there may be fewer or more than before."""
        self._cache.reorder(parents)
        self._lengths = [self._lengths[parent] for parent in parents]

    def keep(self, places: Sequence[int], parents: Sequence[int]) -> None:
        """``reorder`` for the rows of some prompts, by their places in the batch; the others are through."""
        self._cache.reorder(parents)
        self._cache.hear_only(places)
        self._lengths = [self._lengths[parent] for parent in parents]

    def follow(self, texts: Sequence[Sequence[int]]) -> list[float]:
        """Of a batch of one prompt, feed whole texts at once, each in a row of its own.

        Gives the sums of the log-probabilities of their tokens but for the first, which the prefill's logits tell of,
        and of the end behind them.
        """
        start, longest = self._lengths[0], max(map(len, texts))
        self.reorder([0] * len(texts))
        self._cache.reserve(start + longest)
        padded = [[*tokens, *[self._rules.end] * (longest - len(tokens))] for tokens in texts]
        slots = torch.arange(start, start + longest, device=self.device)
        seen = torch.arange(start + longest, device=self.device) <= slots[:, None]
        step = Step(slots.expand(len(texts), -1), start + longest, seen, same=True)
        hidden, _ = self._decoder(torch.tensor(padded, device=self.device), self._cache, step)
        used = torch.cat([row[: len(tokens)] for row, tokens in zip(hidden, texts, strict=True)])
        logprobs = torch.log_softmax(self._decoder.logits(used) + self._rules.suppressed, -1)
        wanted = torch.tensor([token for tokens in texts for token in (*tokens[1:], self._rules.end)])
        chosen = logprobs.gather(1, wanted.to(self.device)[:, None])[:, 0]
        return [float(part.sum()) for part in chosen.split([len(tokens) for tokens in texts])]

    def attention(self, index: int, rows: Sequence[int]) -> torch.Tensor:
        """A prompt's attention from its first text token on: [heads, known text + len(rows) + 1, positions].

        ``rows`` says in which row its text lay at each call of ``advance``.
        """
        before = self._heard[0][index, :, self._prompts[index].text - 1 : len(self._prompts[index].tokens)]
        after = (heard[row] for heard, row in zip(self._heard[1:], rows, strict=False))
        return torch.cat([before, *after], 1).float()


class _Greedy:
    """The likeliest token of every row, until its text is done."""

    def __init__(self, batch: Batch, prompts: Sequence[Prompt], rules: Rules) -> None:
        self._batch, self._prompts, self._rules = batch, prompts, rules
        self._rows = [Decoded() for _ in prompts]
        self.chosen = torch.empty(0)
        self.running = set(range(len(prompts)))

    def choose(self, logits: torch.Tensor) -> None:
        """Append the likeliest token to every running row, and end the rows that are done."""
        best, self.chosen = logits.max(-1)
        logprobs = (best - torch.logsumexp(logits, -1)).tolist()
        for index, token in enumerate(self.chosen.tolist()):
            if index in self.running and self._append(index, token, logprobs[index]):
                self.running.discard(index)

    def _append(self, index: int, token: int, logprob: float) -> bool:
        """Whether the row is done with this token."""
        row, prompt = self._rows[index], self._prompts[index]
        row.logprobs.append(logprob)
        if token == self._rules.end:
            row.ended = "end_of_text"
            return True
        if len(row.tokens) >= prompt.limit:
            row.logprobs.pop()
            return True
        row.tokens.append(token)
        known = len(prompt.tokens) - prompt.text
        keep = self._rules.keep(row.tokens, known, index, lambda: self._attention(index, len(row.tokens) - 1))
        if keep is None:
            return False
        row.ended = "repeated"
        del row.tokens[keep:], row.logprobs[keep:]
        return True

    def _attention(self, index: int, count: int) -> torch.Tensor:
        return self._batch.attention(index, [index] * count)

    def results(self) -> list[Decoded]:
        for index, row in enumerate(self._rows):
            row.no_speech_probability = self._batch.silent[index]
            row.attention = self._attention(index, len(row.tokens))
        return self._rows
