"""Lengths of time in words, as seconds and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.commands.duration import LONGEST_S, read_duration, spoken


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("5 minutes", 300),
        ("1 minute", 60),
        ("a minute", 60),
        ("an hour and a half", 5400),
        ("an hour and half", 5400),
        ("1 and a half hours", 5400),
        ("half an hour", 1800),
        ("half a minute", 30),
        ("a quarter of an hour", 900),
        ("a couple of minutes", 120),
        ("90 seconds", 90),
        ("1 hour 20 minutes and 5 seconds", 4805),
        ("2.5 hours", 9000),
        ("10 min", 600),
        ("the win", None),
        ("5", None),
        ("minutes", None),
        ("", None),
        ("0 minutes", None),
        ("169 hours", None),
        ("5 minutes or so", None),
    ],
)
def test_a_length_of_time_is_read(said: str, seconds: int | None) -> None:
    assert read_duration(said) == seconds


@given(st.integers(1, LONGEST_S))
def test_what_is_spoken_is_read_back(seconds: int) -> None:
    assert read_duration(spoken(seconds)) == seconds
