"""Spoken sums: “twelve times seven plus one”. Exact fractions, no names, no calls. Pure, any thread."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

_TIMES = "\N{MULTIPLICATION SIGN}"
_MINUS = "\N{MINUS SIGN}"
_PHRASES = (
    ("to the power of", "^"),
    ("square root of", "√"),
    ("the square root of", "√"),
    ("multiplied by", _TIMES),
    ("divided by", "÷"),
    ("percent of", "% of"),
    ("squared", "²"),
    ("cubed", "³"),
    ("plus", "+"),
    ("minus", _MINUS),
    ("negative", _MINUS),
    ("times", _TIMES),
    ("over", "÷"),
    ("x", _TIMES),
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|"
    + "|".join(rf"(?P<p{at}>{re.escape(said)}(?![a-z]))" for at, (said, _) in enumerate(_PHRASES))
    + ")"
)
_LARGEST = 10**60
_LARGEST_POWER = 200
_DECIMALS = 10


class NoCalculationError(ValueError):
    """The words are no sum."""


def tokens(said: str) -> tuple[str, ...]:
    """Numbers and signs of normalised words; NoCalculationError where there are other words or no sign at all."""
    found: list[str] = []
    at, said = 0, said.strip()
    while at < len(said):
        token = _TOKEN.match(said, at)
        if token is None:
            raise NoCalculationError(said)
        if token["number"]:
            found.append(token["number"])
        else:
            found.append(next(sign for each, (_, sign) in enumerate(_PHRASES) if token[f"p{each}"]))
        at = token.end()
    if not any(sign != _MINUS and not sign[0].isdecimal() for sign in found) and _MINUS not in found[1:]:
        raise NoCalculationError(said)
    return tuple(found)


def is_calculation(said: str) -> bool:
    """Whether normalised words are a sum, whatever comes of it."""
    try:
        calculate(tokens(said))
    except NoCalculationError:
        return False
    except ArithmeticError:
        return True
    return True


def calculate(parts: Sequence[str]) -> Fraction:
    """The result; ZeroDivisionError, OverflowError, or ArithmeticError for the root of a negative number."""
    reader = _Reader(parts)
    value = reader.sum()
    if reader.next is not None:
        raise NoCalculationError(reader.next)
    return value


def in_digits(value: Fraction) -> str:
    """“84”, “0.25”, “about 0.3333333333”; very large ones by their power of ten."""
    if abs(value) >= 10**15:
        digits, _, power = f"{float(value):.6e}".partition("e")
        return f"about {digits.rstrip('0').rstrip('.')} {_TIMES} 10^{int(power)}"
    if value.denominator == 1:
        return str(value.numerator)
    rounded = f"{float(value):.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return rounded if Fraction(rounded) == value else f"about {rounded}"


class _Reader:
    """Reads one expression, the loosest binding first."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = parts
        self._at = 0

    @property
    def next(self) -> str | None:
        return self._parts[self._at] if self._at < len(self._parts) else None

    def _take(self) -> str:
        part = self.next
        if part is None:
            raise NoCalculationError("an end")
        self._at += 1
        return part

    def sum(self) -> Fraction:
        value = self._product()
        while self.next in ("+", _MINUS):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return _bounded(value)

    def _product(self) -> Fraction:
        value = self._signed()
        while self.next in (_TIMES, "÷", "% of"):
            sign = self._take()
            other = self._signed()
            value = value / other if sign == "÷" else value * other
            value = value / 100 if sign == "% of" else value
        return _bounded(value)

    def _signed(self) -> Fraction:
        if self.next == _MINUS:
            self._take()
            return -self._signed()
        if self.next == "√":
            self._take()
            return _root(self._signed())
        return self._power()

    def _power(self) -> Fraction:
        part = self._take()
        if not part[0].isdecimal():
            raise NoCalculationError(part)
        value = Fraction(part)
        while self.next in ("^", "²", "³"):
            sign = self._take()
            value = _raised(value, {"²": Fraction(2), "³": Fraction(3)}.get(sign) or self._signed())
        return _bounded(value)


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > _LARGEST_POWER:
        raise OverflowError
    if base and abs(exponent) * abs(math.log10(abs(float(base)))) > 60:
        raise OverflowError
    return Fraction(base**exponent.numerator)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise ArithmeticError("the root of a negative number")
    upper, lower = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if upper * upper == value.numerator and lower * lower == value.denominator:
        return Fraction(upper, lower)
    return Fraction(math.sqrt(value))


def _bounded(value: Fraction) -> Fraction:
    if abs(value) > _LARGEST:
        raise OverflowError
    return value
