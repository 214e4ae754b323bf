"""How likely texts are by language alone: to a decoder that hears nothing. Runs on the thread that calls it.

A model prefers what people say often, and more so the less it can make out. Where texts are known to be about equally
likely to be said, as commands are, that preference is in the way, and has to be known to be taken off.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sayso.engine.modules.whisper_decoding import Batch, Prompt, Rules
from sayso.engine.modules.whisper_network import Network

_KEPT = 2
"""Prompts whose keys and values are kept, about a megabyte each for a small model: they stay from turn to turn."""


class Unheard:
    def __init__(self, network: Network, rules: Rules) -> None:
        self._network, self._rules = network, rules
        self._opened: dict[tuple[int, ...], tuple[Batch, torch.Tensor]] = {}

    def score(self, prompt: Prompt, texts: Sequence[tuple[int, ...]]) -> list[float]:
        """The sum of the log-probabilities of each text's tokens and its end, behind this prompt."""
        batch, opening = self._open(prompt)
        firsts = torch.log_softmax(opening[0], -1)[[tokens[0] for tokens in texts]].tolist()
        rests = batch.alone(0).follow(texts)
        return [first + rest for first, rest in zip(firsts, rests, strict=True)]

    def _open(self, prompt: Prompt) -> tuple[Batch, torch.Tensor]:
        """The prompt, read without a sound: its state, and the logits [1, vocabulary] of what may follow."""
        opened = self._opened.pop(prompt.tokens, None)
        if opened is None:
            width = self._network.shape.width
            # Of nothing, one position is as much as many.
            nothing = torch.zeros(1, 1, width, device=self._rules.suppressed.device, dtype=self._network.decoder.dtype)
            batch = Batch(self._network, nothing, None, [prompt], self._rules)
            opened = batch, batch.allowed(batch.prefill(), fresh=True)
        self._opened[prompt.tokens] = opened
        while len(self._opened) > _KEPT:
            del self._opened[next(iter(self._opened))]
        return opened
