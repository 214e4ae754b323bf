"""How likely sentences are that a client expects: those near the sound are found among thousands and given their
log-probability, as if the model had written them. Runs on the thread that calls it.

A beam search over the expected sentences alone: of every beginning only the tokens with which one of them goes on are
looked at, with the probabilities that they have among all tokens. So what it gives compares with any other text for
the same sound. A beginning that falls too far behind such a text is left at once, which is why ordinary speech costs
little: after a step or two nothing that is expected is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sayso.engine.modules.whisper_decoding import Batch, Other

EXPECTED_BEAMS = 8
"""Beginnings that are followed at once."""


@dataclass(frozen=True)
class Beginning:
    """Tokens with which some sentences begin: those from ``first`` to before ``last`` in their order."""

    tokens: tuple[int, ...]
    first: int
    last: int
    logprob: float = 0.0
    row: int = 0
    """Where it lay in the batch when its newest token was chosen."""


class Sentences:
    """What is expected, as tokens in their order, so that sentences that begin alike lie together."""

    def __init__(self, texts: Iterable[str], encode: Callable[[str], tuple[int, ...]], end: int) -> None:
        """``encode`` gives a text's tokens; ``end`` is the token behind each text."""
        spelled = sorted({(*encode(f" {text}"), end) for text in texts if text})
        self.end = end
        # Tokens are below 2 to the 16 in every Whisper; what is behind an end is never looked at.
        self._tokens = np.full((len(spelled), max(map(len, spelled), default=0)), end, np.uint16)
        for row, tokens in zip(self._tokens, spelled, strict=True):
            row[: len(tokens)] = tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def after(self, begun: Beginning) -> tuple[list[int], list[int]]:
        """The tokens that may follow, in their order, and where the sentences with each of them begin; then the end."""
        column = self._tokens[begun.first : begun.last, len(begun.tokens)]
        tokens, starts = np.unique(column, return_index=True)
        return tokens.tolist(), [*(starts + begun.first).tolist(), begun.last]


def search_expected(
    batch: Batch, logits: torch.Tensor, sentences: Sentences, least: float, beams: int = EXPECTED_BEAMS
) -> list[Other]:
    """The likeliest expected sentences for one prompt, the likeliest first; none with less than ``least``.

    ``batch`` holds that prompt alone, right after its prefill, which gave ``logits`` [1, vocabulary]. ``least`` is the
    least sum of log-probabilities of a text and its end.
    """
    found: list[Other] = []
    running = [Beginning((), 0, len(sentences))] if len(sentences) else []
    while running:
        options = _continued(running, torch.log_softmax(logits, -1), sentences)
        found += [Other(each.tokens[:-1], each.logprob, True) for each in options if each.tokens[-1] == sentences.end]
        going = [each for each in options if each.logprob >= least and each.tokens[-1] != sentences.end]
        running = sorted(going, key=lambda each: -each.logprob)[:beams]
        if running:
            logits = _advanced(batch, running)
    return sorted((each for each in found if each.logprob >= least), key=lambda each: -each.logprob)


def _continued(running: Sequence[Beginning], logprobs: torch.Tensor, sentences: Sentences) -> list[Beginning]:
    """Every beginning with each token that may follow it, by log-probabilities [rows, vocabulary]."""
    options = []
    for row, begun in enumerate(running):
        tokens, starts = sentences.after(begun)
        values = logprobs[row, torch.tensor(tokens, device=logprobs.device)].tolist()
        for at, (token, value) in enumerate(zip(tokens, values, strict=True)):
            more = (*begun.tokens, token)
            options.append(Beginning(more, starts[at], starts[at + 1], begun.logprob + value, row))
    return options


def _advanced(batch: Batch, running: Sequence[Beginning]) -> torch.Tensor:
    """The logits after the newest token of each, a row for each."""
    batch.reorder([each.row for each in running])
    tokens = [each.tokens[-1] for each in running]
    return batch.allowed(batch.advance(torch.tensor(tokens, device=batch.device)), fresh=False)
