"""Spoken sums are worked out exactly, and other words are no sums."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.commands.calculation import calculate, in_digits, is_calculation, tokens


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("12 times 7", "84"),
        ("12x7", "84"),
        ("2 plus 3 times 4", "14"),
        ("10 minus 4 minus 3", "3"),
        ("minus 5 plus 2", "-3"),
        ("minus 5 squared", "-25"),
        ("2 times minus 3", "-6"),
        ("7 over 2", "3.5"),
        ("1 divided by 3", "about 0.3333333333"),
        ("0.1 plus 0.2", "0.3"),
        ("20 percent of 50 plus 1", "11"),
        ("the square root of 2", "about 1.4142135624"),
        ("square root of 16 times 2", "8"),
        ("2 to the power of 10", "1024"),
        ("2 to the power of minus 2", "0.25"),
        ("3 cubed", "27"),
        ("10 to the power of 20", "about 1 \u00d7 10^20"),
    ],
)
def test_a_sum_is_worked_out(said: str, answer: str) -> None:
    assert is_calculation(said)
    assert in_digits(calculate(tokens(said))) == answer


@pytest.mark.parametrize(
    "said",
    ["", "12", "minus 5", "love", "the cost", "12 times", "times 7", "3 4", "plus", "12 times seven", "2 2 plus"],
)
def test_other_words_are_no_sum(said: str) -> None:
    assert not is_calculation(said)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("1 over 0", ZeroDivisionError),
        ("0 to the power of minus 1", ZeroDivisionError),
        ("9 to the power of 9 to the power of 9", OverflowError),
        ("10 to the power of 50 times 10 to the power of 50", OverflowError),
        ("2 to the power of 0.5", OverflowError),
        ("square root of minus 1", ArithmeticError),
    ],
)
def test_a_sum_without_an_answer_is_told_apart(said: str, error: type[ArithmeticError]) -> None:
    assert is_calculation(said)
    with pytest.raises(error):
        calculate(tokens(said))


@given(st.integers(0, 999), st.sampled_from(["plus", "minus", "times"]), st.integers(0, 999), st.integers(1, 99))
def test_it_agrees_with_arithmetic(first: int, sign: str, second: int, third: int) -> None:
    value = calculate(tokens(f"{first} {sign} {second} over {third}"))

    right = Fraction(second, third)
    assert value == {"plus": first + right, "minus": first - right, "times": first * right}[sign]


@given(st.text(alphabet="0123456789 timesplusover.x\u00d7\u221a", max_size=30))
def test_any_words_are_a_sum_or_none(said: str) -> None:
    assert is_calculation(said) in (True, False)
