"""The action feed as a value: what was heard, what it does, and what became of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sayso.app.snapshot import FeedItem, FeedState

LIMIT = 200
"""Items kept; older ones leave, since the window shows recent actions and history has its own place."""

_OPEN = frozenset({FeedState.HEARD, FeedState.CONFIRM, FeedState.RUNNING})


@dataclass(frozen=True, slots=True)
class Feed:
    """Items in the order in which they were heard."""

    items: tuple[FeedItem, ...] = ()
    next_id: int = 1

    def heard(self, text: str, title: str, state: FeedState = FeedState.HEARD, detail: str = "") -> Feed:
        """Append an item; its id is the ``next_id`` of the feed before."""
        item = FeedItem(id=self.next_id, heard=text, title=title, state=state, detail=detail)
        return Feed((*self.items, item)[-LIMIT:], self.next_id + 1)

    def moved(self, item_id: int, state: FeedState, detail: str = "", *, can_undo: bool = False) -> Feed:
        """The feed with one item in another state; an id that has left the feed changes nothing."""
        items = tuple(
            replace(item, state=state, detail=detail, can_undo=can_undo) if item.id == item_id else item
            for item in self.items
        )
        return replace(self, items=items)

    def find(self, item_id: int) -> FeedItem | None:
        return next((item for item in self.items if item.id == item_id), None)

    def open_items(self) -> tuple[FeedItem, ...]:
        """Items that still wait for something."""
        return tuple(item for item in self.items if item.state in _OPEN)
