"""What became of one utterance: a value that the commander tells when it is through with it."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.snapshot import FeedItem, LineKind
from sayso.app.why import Moments


@dataclass(frozen=True, slots=True)
class CarriedOut:
    text: str
    kind: LineKind
    moments: Moments
    item: FeedItem | None = None
    """The action in the feed, as it is now; None where none was done."""
    application: str = ""
    """The program whose window was in front when it began."""
