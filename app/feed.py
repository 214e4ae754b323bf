"""The action feed as a value: what was heard, what it does, and what became of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sayso.app.snapshot import FeedItem, FeedState, Why

LIMIT = 200
"""Items kept; older ones leave, since the window shows recent actions and history has its own place."""

_OPEN = frozenset({FeedState.HEARD, FeedState.CONFIRM, FeedState.RUNNING})


@dataclass(frozen=True, slots=True)
class Feed:
    """Items in the order in which they were heard."""

    items: tuple[FeedItem, ...] = ()
    next_id: int = 1

    def heard(
        self,
        text: str,
        title: str,
        state: FeedState = FeedState.HEARD,
        detail: str = "",
        why: Why | None = None,
        yes: str = "yes",
    ) -> Feed:
        """Append an item; its id is the ``next_id`` of the feed before."""
        item = FeedItem(id=self.next_id, heard=text, title=title, state=state, detail=detail, why=why, yes=yes)
        return Feed((*self.items, item)[-LIMIT:], self.next_id + 1)

    def moved(self, item_id: int, state: FeedState, detail: str = "", *, can_undo: bool = False) -> Feed:
        """The feed with one item in another state; an id that has left the feed changes nothing."""
        items = tuple(
            replace(item, state=state, detail=detail, can_undo=can_undo) if item.id == item_id else item
            for item in self.items
        )
        return replace(self, items=items)

    def finished(self, item_id: int, at: float) -> Feed:
        """The feed with the time at which an item's action was over, in seconds since the epoch; told once."""
        item = self.find(item_id)
        if item is None or item.why is None or item.why.done_at:
            return self
        done = replace(item, why=replace(item.why, done_at=at))
        return replace(self, items=tuple(done if each is item else each for each in self.items))

    def find(self, item_id: int) -> FeedItem | None:
        return next((item for item in self.items if item.id == item_id), None)

    def without_finished(self) -> Feed:
        """The feed with nothing but what still waits for something."""
        return replace(self, items=self.open_items())

    def open_items(self) -> tuple[FeedItem, ...]:
        """Items that still wait for something."""
        return tuple(item for item in self.items if item.state in _OPEN)
