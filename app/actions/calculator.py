"""Sums that are answered in the feed. One worker thread at a time."""

from __future__ import annotations

from sayso.app.actions.base import Done, Family, Job
from sayso.app.actions.errors import ActionError
from sayso.app.commands.calculation import calculate, in_digits, tokens
from sayso.app.commands.matching import Match


class Calculator(Family):
    """“What is twelve times seven”, “calculate the square root of two”."""

    family = "calculator"

    def describe(self, match: Match) -> str:
        return f"Calculate {_shown(match)}"

    def perform(self, job: Job) -> Done:
        try:
            value = calculate(tokens(job.match.slots["calculation"]))
        except ZeroDivisionError as error:
            raise ActionError("division_by_zero", "Nothing can be divided by zero.") from error
        except OverflowError as error:
            raise ActionError("too_large", "That number is too large to work out here.") from error
        except ArithmeticError as error:
            raise ActionError("no_real_root", "A negative number has no real square root.") from error
        return Done(f"{_shown(job.match)} = {in_digits(value)}")


def _shown(match: Match) -> str:
    """The sum in signs."""
    return (
        " ".join(tokens(match.slots["calculation"]))
        .replace(" ²", "²")
        .replace(" ³", "³")
        .replace("√ ", "√")
        .replace(" %", "%")
    )
