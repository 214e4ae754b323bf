from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.runner.voxtral_timeline import Timeline, nearest_delay_ms

TIMELINE = Timeline(left_pad=32, delay=6)


def test_the_first_token_needs_562_and_a_half_milliseconds() -> None:
    assert TIMELINE.first_token == 38
    assert TIMELINE.complete(8999) == 38
    assert TIMELINE.complete(9000) == 39


def test_before_any_audio_all_but_the_last_padding_position_is_complete() -> None:
    assert TIMELINE.complete(0) == TIMELINE.complete(39) == 31
    assert TIMELINE.complete(40) == 32


@given(st.integers(0, 10**9))
def test_a_position_is_complete_once_its_last_sample_is_there(samples: int) -> None:
    complete = TIMELINE.complete(samples)
    assert TIMELINE.window(complete - 1, 1)[1] <= samples or complete <= 31
    assert TIMELINE.window(complete, 1)[1] > samples


@pytest.mark.parametrize(("samples", "tokens"), [(1, 11), (1280, 11), (16_000, 23), (160_000, 135), (960_000, 760)])
def test_a_turn_has_as_many_tokens_as_in_other_servers(samples: int, tokens: int) -> None:
    assert TIMELINE.total(samples) - TIMELINE.first_token == tokens


@pytest.mark.parametrize(
    ("wanted", "given_ms"), [(480, 480), (1, 80), (500, 480), (520, 560), (1250, 1200), (1800, 2400), (9999, 2400)]
)
def test_a_delay_that_was_not_trained_becomes_the_nearest_that_was(wanted: int, given_ms: int) -> None:
    assert nearest_delay_ms(wanted) == given_ms
