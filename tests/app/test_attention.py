"""Which utterances are meant for Sayso where a wake phrase is asked for."""

from __future__ import annotations

import pytest

from sayso.app.attention import WITHIN_S, Address, Attention


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def attention(clock: Clock) -> Attention:
    made = Attention(clock)
    made.phrase, made.asked = "hey sayso", True
    return made


def test_only_what_begins_with_the_phrase_is_meant(attention: Attention) -> None:
    assert attention.address("volume up", 1000.0, asleep=False) is None
    assert attention.address("hey sayso volume up", 1000.0, asleep=False) == Address("volume up", phrase=True)


def test_what_is_begun_soon_after_a_deed_is_meant_too(attention: Attention, clock: Clock) -> None:
    attention.attend()
    assert attention.present
    clock.now += WITHIN_S + 30.0
    assert not attention.present
    assert attention.address("volume up", 1000.0 + WITHIN_S - 0.1, asleep=False) == Address("volume up")
    assert attention.address("volume up", 1000.0 + WITHIN_S, asleep=False) is None
    assert attention.address("volume up", 0.0, asleep=False) is None


def test_where_it_is_not_asked_for_everything_is_meant_and_the_phrase_is_a_part_of_it(attention: Attention) -> None:
    attention.asked = False
    assert attention.address("hey sayso volume up", 1000.0, asleep=False) == Address("hey sayso volume up")
    assert not attention.needs_phrase


def test_asleep_the_phrase_wakes_and_the_rest_is_left_to_the_grammar(attention: Attention) -> None:
    for asked in (True, False):
        attention.asked = asked
        assert attention.address("hey sayso volume up", 1000.0, asleep=True) == Address("volume up", phrase=True)
        assert attention.address("start listening", 1000.0, asleep=True) == Address("start listening")


def test_without_a_phrase_none_is_asked_for(attention: Attention) -> None:
    attention.phrase = ""
    assert attention.address("volume up", 1000.0, asleep=False) == Address("volume up")
