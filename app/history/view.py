"""What the windows show of the history: immutable values. Rows are asked for a page at a time."""

from __future__ import annotations

from dataclasses import dataclass

OFF = 0
FOREVER = 36_500
"""Days that stand for “until deleted”."""
CHOICES = (OFF, 1, 7, 30, 90, 365, FOREVER)
"""Days that can be chosen."""
PAGE = 100
"""Rows of a page."""


@dataclass(frozen=True, slots=True)
class HistoryView:
    days: int = OFF
    """How long utterances are kept."""
    total: int = 0
    """Utterances that are kept now."""
    revision: int = 0
    """Grows whenever something was added or removed."""
    place: str = ""
    """The file, for people."""


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a search, newest first; it stays the same while more is said."""

    query: str
    total: int
    newest: int
    """Identifier of the newest utterance there was; later ones are not in it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows ``first`` to ``last`` of what was found, both included, counted from 0 for the newest."""

    first: int
    last: int
