"""What was typed in the settings and not taken into use, kept until Sayso ends so that closing a window loses nothing.

It is held in memory only, since a key may be in it: nothing here is saved, logged or shown but ``told``. Qt thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Draft:
    """What a page hands over when it is left, and gets back when it is made anew."""

    told: str
    """What is not in use yet, as a part of a sentence; empty where nobody needs to be told."""
    typed: object = field(repr=False)
    """The page's own value."""


class Drafts:
    """One draft for each page, by the page's title."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """``changed`` is told of every change."""
        self._kept: dict[str, Draft] = {}
        self._changed = changed

    def keep(self, title: str, draft: Draft | None) -> None:
        """Keep what the page with this title was left with; None where nothing is left over."""
        before = self._kept.pop(title, None)
        if draft is not None:
            self._kept[title] = draft
        if before != draft:
            self._changed()

    def take(self, title: str) -> Draft | None:
        """Hand out the draft of a page that is shown again; from now on the page has it."""
        draft = self._kept.get(title)
        self.keep(title, None)
        return draft

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """Of what a person is to be told: the title of the page and what is not in use, the oldest first."""
        return tuple((title, draft.told) for title, draft in self._kept.items() if draft.told)


def sentence(told: tuple[tuple[str, str], ...]) -> str:
    """What was typed and is not in use, for people; empty where there is nothing."""
    listed = "; ".join(f"{what} (page {title})" for title, what in told)
    return f"Typed in the settings and not in use: {listed}." if listed else ""
