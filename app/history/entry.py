"""One utterance as it is kept. Pure values."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.snapshot import FeedState, LineKind


@dataclass(frozen=True, slots=True)
class Entry:
    at: float
    """When it began, seconds since the epoch."""
    duration_s: float
    text: str
    kind: LineKind
    action: str = ""
    """What it did, in words for people; empty where it did nothing."""
    state: FeedState | None = None
    """What became of the action."""
    application: str = ""
    """The program whose window was in front."""
    id: int = 0
    """Given by the store."""
