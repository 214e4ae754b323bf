"""What a recogniser would have written instead of the text that it took: a pure value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherText:
    """``behind``: natural logarithm of how much likelier the text that it took is for the recogniser.

    ``by_language`` is the same by language alone, as if it had heard nothing; None where it is not known.
    """

    text: str
    behind: float
    by_language: float | None = None
