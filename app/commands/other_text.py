"""What a recogniser would have written instead of the text that it took: a pure value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherText:
    """``behind``: natural logarithm of how much likelier the text that it took is for the recogniser."""

    text: str
    behind: float
