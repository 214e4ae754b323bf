"""What is easily misheard is alike, and what is not is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.commands.sounds import alike, classes, phones


@pytest.mark.parametrize(
    ("written", "also"),
    [("write", "rite"), ("phone", "fone"), ("scroll down", "scrolldown"), ("tabb", "tab")],
)
def test_spellings_of_the_same_sounds_are_equal(written: str, also: str) -> None:
    assert phones(written) == phones(also)


@pytest.mark.parametrize(
    ("heard", "nearer", "farther"),
    [
        ("kill swindle", "close window", "next window"),
        ("malumab", "volume up", "volume down"),
        ("mute the solid", "mute the sound", "turn off the sound"),
        ("based on that", "paste that", "press that"),
        ("tap", "tab", "top"),
    ],
)
def test_what_is_misheard_is_nearer_to_what_was_said(heard: str, nearer: str, farther: str) -> None:
    assert alike(phones(heard), phones(nearer)) > alike(phones(heard), phones(farther))


def test_confused_sounds_are_of_one_class_and_cost_less_than_others() -> None:
    assert classes("bdgvz") == classes("ptkfs")
    assert alike("bat", "pat") > alike("bat", "sat")


@given(st.text("abcdefgikmnprstw ", max_size=20), st.text("abcdefgikmnprstw ", max_size=20))
def test_likeness_is_the_same_both_ways_and_full_only_for_equal_sounds(first: str, second: str) -> None:
    one, other = phones(first), phones(second)

    assert alike(one, other) == pytest.approx(alike(other, one))
    assert (alike(one, other) == 100.0) == (one == other)
