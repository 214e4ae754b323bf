"""What is kept and for how long. Pure."""

from __future__ import annotations

import unicodedata

from sayso.app.history.view import OFF
from sayso.app.snapshot import LineKind

DAY_S = 86_400.0
_KEPT = frozenset({LineKind.COMMAND, LineKind.DICTATED, LineKind.PLAIN})
_SCANNED_FROM = 0x2E80
"""From here on scripts are written without spaces, so that an index of words finds nothing inside them."""


def is_kept(kind: LineKind, days: int) -> bool:
    """Whether such an utterance is kept. What is said while Sayso is asleep is not meant for it."""
    return days > OFF and kind in _KEPT


def cutoff(now: float, days: int) -> float:
    """What began before this, in seconds since the epoch, is not kept any more."""
    return now - days * DAY_S


def is_due(now: float, last: float | None) -> bool:
    """Whether old utterances are to be looked for again: at first, then every day, and when the clock was set back."""
    return last is None or not 0 <= now - last < DAY_S


def folded(text: str) -> str:
    """The text as it is searched: without case and without accents, “Grüße” as “grusse”."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in plain if not unicodedata.combining(character))


def terms(query: str) -> list[str]:
    """What must all be there: the words of a query, folded."""
    return folded(query).split()


def needs_scan(term: str) -> bool:
    """Whether an index of words cannot find this term, as it has other signs than letters and digits, or no spaces."""
    return not term.isalnum() or any(ord(character) >= _SCANNED_FROM for character in term)
