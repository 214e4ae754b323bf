"""Who gets in, and who makes room when the cache is full. Pure functions on values.

Every chunk that joins has a number, ``order``, that grows. The lower it is, the stronger the claim to memory: a session
takes blocks from sessions that are paused, then from those whose chunk joined later, newest first. So the oldest chunk
always goes on, everybody becomes the oldest in time, and no two sessions can wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sayso.engine.errors import SessionError

SPARE_BLOCKS = 2
"""Who begins leaves so many blocks to each session with an older chunk, else it would soon lose its own again."""


@dataclass(frozen=True)
class Holder:
    """A session that holds blocks."""

    session: str
    blocks: int
    order: int
    paused_since: float | None = None
    """Loop clock, in seconds, when it has nothing to compute now: it waits for its client."""


@dataclass(frozen=True)
class Need:
    """Blocks that a session needs for all that it has to compute before its next token."""

    session: str
    blocks: int
    order: int
    begins: bool = False
    """It holds nothing yet, so it loses nothing by waiting."""


@dataclass(frozen=True)
class Room:
    """Who may run; whose cache is dropped for it; who must wait until somebody gives blocks back."""

    granted: dict[str, int] = field(default_factory=dict)
    preempted: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def admit(open_sessions: int, most: int) -> None:
    """Raises ``SessionError`` ``session_limit`` when no session more can be opened."""
    if open_sessions >= most:
        raise SessionError("session_limit", f"All {most} sessions of this engine are taken; try again later.")


def make_room(needs: Iterable[Need], holders: Iterable[Holder], free: int) -> Room:
    """Divide ``free`` blocks and those that can be taken away. Nobody is preempted unless it lets somebody run."""
    holding = {holder.session: holder for holder in holders}
    granted: dict[str, int] = {}
    preempted: list[str] = []
    waiting: list[str] = []
    for need in sorted(needs, key=lambda need: need.order):
        if need.session in preempted:
            waiting.append(need.session)
            continue
        others = [holder for holder in holding.values() if holder.session != need.session]
        victims = _victims(
            need, [holder for holder in others if holder.session not in granted], free - _spare(need, others)
        )
        if victims is None:
            waiting.append(need.session)
            continue
        for victim in victims:
            del holding[victim.session]
            preempted.append(victim.session)
            free += victim.blocks
        granted[need.session] = need.blocks
        free -= need.blocks
    return Room(granted, tuple(preempted), tuple(waiting))


def _spare(need: Need, others: list[Holder]) -> int:
    older = sum(holder.paused_since is None and holder.order < need.order for holder in others)
    return SPARE_BLOCKS * older if need.begins else 0


def _victims(need: Need, takeable: list[Holder], free: int) -> list[Holder] | None:
    """Whose blocks let this need be met, as few as possible; None when that cannot be."""
    paused = [holder for holder in takeable if holder.paused_since is not None]
    paused.sort(key=lambda holder: holder.paused_since or 0.0)
    younger = sorted(
        (holder for holder in takeable if holder.paused_since is None and holder.order > need.order),
        key=lambda holder: -holder.order,
    )
    victims: list[Holder] = []
    for holder in (*paused, *younger):
        if free >= need.blocks:
            break
        victims.append(holder)
        free += holder.blocks
    return victims if free >= need.blocks else None
