"""Sampling parameters: what is refused, with which code, and the random numbers of a session."""

import math

import pytest

from sayso.engine.sampling import Dice, ParameterError, SamplingParams


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("max_tokens", True),
        ("min_tokens", -1),
        ("min_tokens", None),
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", "hot"),
        ("top_p", 0),
        ("top_p", 1.01),
        ("top_k", -1),
        ("seed", "lucky"),
        ("seed", 2**64),
        ("stop_token_ids", 5),
        ("stop_token_ids", (1, "2")),
        ("stop_token_ids", (-1,)),
        ("ignore_eos", 1),
        ("logprobs", 65),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(ParameterError) as caught:
        SamplingParams(**{name: value})  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.parameter) == ("bad_parameter", name)
    assert name in str(caught.value)
    assert repr(value[-1] if isinstance(value, tuple) else value) in str(caught.value)


@pytest.mark.parametrize("name", ["n", "stop", "output_kind", "presence_penalty", "__class__"])
def test_what_is_not_a_parameter_is_refused_and_so_is_what_chunks_cannot_have(name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        SamplingParams.of({"max_tokens": 3, name: 2})
    assert (caught.value.code, caught.value.parameter) == ("unknown_parameter", name)


def test_a_client_s_mapping_becomes_parameters() -> None:
    params = SamplingParams.of({"max_tokens": None, "temperature": 0, "stop_token_ids": [5, 6]})
    assert params.greedy
    assert params.stop_token_ids == (5, 6)


def test_more_tokens_at_least_than_at_most_are_refused() -> None:
    with pytest.raises(ParameterError):
        SamplingParams(max_tokens=3, min_tokens=4)


def test_a_seed_s_numbers_go_on_until_another_seed_comes() -> None:
    whole, parts = Dice(), Dice()
    whole.reseed(7)
    expected = [whole.draw() for _ in range(4)]
    parts.reseed(7)
    drawn = [parts.draw(), parts.draw()]
    parts.reseed(7)
    drawn += [parts.draw()]
    parts.reseed(None)
    drawn += [parts.draw()]
    assert drawn == expected
    parts.reseed(8)
    assert parts.draw() != Dice().draw()
    parts.reseed(7)
    assert parts.draw() == expected[0]
