"""Likelihood of texts by language alone, beside its definition: every token computed anew, without a cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from sayso.engine.modules.whisper import Request, Whisper
from sayso.engine.modules.whisper_decoding import Batch, Prompt, Rules
from sayso.engine.modules.whisper_unheard import Unheard


@torch.inference_mode()
def test_a_text_has_the_likelihood_that_its_tokens_have_one_by_one_without_a_sound(whisper: Whisper) -> None:
    rules = whisper._rules_for([Request(np.zeros(16_000, np.float32))])
    unheard, prompt = Unheard(whisper._network, rules), _prompt(whisper, "Close window. Volume up.")
    texts = [whisper.text.encode(f" {text}") for text in ("Mute.", "Unmaximize.", "Scroll all the way to the end.")]
    expected = [by_definition(whisper, rules, prompt, tokens) for tokens in texts]
    for _ in range(2):
        assert unheard.score(prompt, texts) == pytest.approx(expected, abs=0.05)
    assert unheard.score(prompt, texts[:1]) == pytest.approx(expected[:1], abs=0.05)


@torch.inference_mode()
def test_it_follows_what_was_said_before(whisper: Whisper) -> None:
    rules = whisper._rules_for([Request(np.zeros(16_000, np.float32))])
    unheard, texts = Unheard(whisper._network, rules), [whisper.text.encode(" Volume up.")]
    prompts = [
        _prompt(whisper, context) for context in ("Volume up. Volume up.", "It was the best of times.", "Hello.")
    ]
    likely = [unheard.score(prompt, texts)[0] for prompt in prompts]
    assert likely[0] > max(likely[1:]) + 2.0
    # The first is not kept any more, and gives the same.
    assert unheard.score(prompts[0], texts)[0] == pytest.approx(likely[0], abs=1e-3)


def _prompt(whisper: Whisper, context: str) -> Prompt:
    return whisper._prompt(Request(np.zeros(16_000, np.float32), context=whisper.text.encode(f" {context}")), "en")


def by_definition(whisper: Whisper, rules: Rules, prompt: Prompt, tokens: Sequence[int]) -> float:
    nothing = torch.zeros(1, 7, whisper._network.shape.width)
    total = 0.0
    for at, token in enumerate((*tokens, rules.end)):
        begun = Prompt((*prompt.tokens, *tokens[:at]), prompt.start, prompt.text, 1)
        batch = Batch(whisper._network, nothing, None, [begun], rules)
        total += float(torch.log_softmax(batch.allowed(batch.prefill(), fresh=True), -1)[0, token])
    return total
