"""Choosing tokens: each rule on its own against plain arithmetic, and rows that do not see each other."""

import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.engine.sampling import Choice, SamplingParams
from sayso.engine.sampling_kernel import choose

LOGITS = torch.tensor([[1.0, 3.0, 2.0, 0.0]])
DRAWS = [at / 400 for at in range(400)]


def shares(params: SamplingParams, logits: torch.Tensor = LOGITS) -> list[float]:
    """How often each token is chosen over evenly spread random numbers."""
    counts = [0] * logits.shape[-1]
    for chosen in choose(logits.repeat(len(DRAWS), 1), [Choice(params, draw) for draw in DRAWS]):
        assert chosen.token is not None
        counts[chosen.token] += 1
    return [count / len(DRAWS) for count in counts]


def test_temperature_zero_takes_the_likeliest() -> None:
    assert shares(SamplingParams(temperature=0)) == [0, 1, 0, 0]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_come_as_often_as_their_probability_at_this_temperature(temperature: float) -> None:
    expected = (LOGITS[0] / temperature).softmax(0).tolist()
    assert shares(SamplingParams(temperature=temperature)) == pytest.approx(expected, abs=1 / 400)


def test_top_k_keeps_so_many_of_the_likeliest() -> None:
    expected = torch.tensor([-math.inf, 3.0, 2.0, -math.inf]).softmax(0).tolist()
    assert shares(SamplingParams(top_k=2)) == pytest.approx(expected, abs=1 / 400)
    assert shares(SamplingParams(top_k=1)) == [0, 1, 0, 0]
    assert shares(SamplingParams(top_k=99)) == shares(SamplingParams())


def test_top_p_keeps_the_likeliest_that_reach_it() -> None:
    """The probabilities are 0.64, 0.24, 0.09 and 0.03."""
    assert shares(SamplingParams(top_p=0.5)) == [0, 1, 0, 0]
    expected = torch.tensor([-math.inf, 3.0, 2.0, -math.inf]).softmax(0).tolist()
    assert shares(SamplingParams(top_p=0.7)) == pytest.approx(expected, abs=1 / 400)
    assert shares(SamplingParams(top_p=0.95))[3] == 0
    assert shares(SamplingParams(top_p=1e-9)) == [0, 1, 0, 0]


def test_a_temperature_near_zero_is_like_zero() -> None:
    for temperature in (1e-30, 1e-300):
        assert shares(SamplingParams(temperature=temperature)) == [0, 1, 0, 0]


def test_banned_tokens_are_never_chosen() -> None:
    for params in (SamplingParams(temperature=0), SamplingParams(temperature=3.0)):
        chosen = choose(LOGITS.repeat(50, 1), [Choice(params, at / 50, (1, 3)) for at in range(50)])
        assert {row.token for row in chosen} <= {0, 2}


def test_log_probabilities_are_the_model_s_own() -> None:
    expected = LOGITS[0].log_softmax(0)
    params = SamplingParams(temperature=0, top_k=1, logprobs=2)
    [chosen] = choose(LOGITS.clone(), [Choice(params, banned=(1,))])
    assert chosen.token == 2
    assert chosen.logprobs is not None
    assert chosen.logprobs.chosen == pytest.approx(expected[2].item())
    assert chosen.logprobs.rank == 1
    assert [token for token, _ in chosen.logprobs.top] == [1, 2]
    assert [value for _, value in chosen.logprobs.top] == pytest.approx([expected[1].item(), expected[2].item()])
    [bare] = choose(LOGITS.clone(), [Choice(SamplingParams(logprobs=0, temperature=0))])
    assert bare.logprobs is not None
    assert bare.logprobs.top == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_a_row_gets_the_same_token_in_any_batch(seed: int) -> None:
    dice = random.Random(seed)
    rows = dice.randint(1, 9)
    logits = torch.randn(rows, 33, generator=torch.Generator().manual_seed(seed)) * 3
    choices = [
        Choice(
            SamplingParams(
                temperature=dice.choice([0, 0.7, 1.3]),
                top_p=dice.choice([0.3, 0.9, 1.0]),
                top_k=dice.choice([0, 1, 5]),
                logprobs=dice.choice([None, 0, 3]),
            ),
            dice.random(),
            tuple(dice.sample(range(33), dice.randint(0, 4))),
        )
        for _ in range(rows)
    ]
    alone = [choose(logits[row : row + 1].clone(), [choice])[0] for row, choice in enumerate(choices)]
    assert choose(logits.clone(), choices) == alone


@pytest.mark.parametrize("params", [SamplingParams(temperature=0), SamplingParams()])
def test_a_row_of_numbers_that_are_none_is_noticed_and_the_others_are_answered(params: SamplingParams) -> None:
    logits = torch.stack([LOGITS[0], torch.full((4,), math.nan), LOGITS[0] - 5])
    chosen = choose(logits, [Choice(params, 0.0) for _ in range(3)])
    assert [row.token for row in chosen] == [1, None, 1]


def test_logits_of_a_model_s_inference_mode_can_be_used() -> None:
    with torch.inference_mode():
        logits = LOGITS.repeat(2, 1)
    choices = [Choice(SamplingParams(temperature=at, logprobs=1), 0.0, (1,)) for at in (0, 1)]
    assert [row.token for row in choose(logits, choices)] == [2, 2]


def test_nothing_to_choose_is_nothing() -> None:
    assert choose(torch.zeros(0, 4), []) == []
