"""When a connection has been quiet or open for too long, and what is to be done then. Pure.

An idle client is warned, then its open turn is finished, then the connection is closed. A connection that has lasted
too long is closed after its open turn, so that it is rotated between utterances. Neither loses what was said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Step = Literal["wait", "warn", "idle", "rotate", "finish", "give_up"]
"""``idle``: finish the open turn and close. ``rotate``: close after the open turn, which goes on. ``finish``: it has
gone on for too long, end its audio. ``give_up``: its text does not come, close without it."""

ROTATION_S = 60.0
"""How long a turn may still go on after the connection's time is over."""
FINISH_S = 60.0
"""How long the text of a turn that has ended is waited for; an engine may have to load for it."""

Away = Literal["", "host", "dropped"]
_DEPTH: dict[Away, int] = {"": 0, "host": 1, "dropped": 2}


@dataclass(frozen=True)
class Bounds:
    """Seconds; 0 or None is never."""

    idle_s: float | None = None
    warning_s: float = 10.0
    length_s: float = 0.0


@dataclass(frozen=True)
class Standing:
    """``draining``: it is the client that waits. ``leaving_s``: since when the connection is to end, None before."""

    quiet_s: float
    age_s: float
    draining: bool = False
    warned: bool = False
    leaving_s: float | None = None
    finishing: bool = False


def due(now: Standing, bounds: Bounds) -> tuple[Step, float | None]:
    """What to do at once, or ``wait`` and for how long at most; None is until something comes."""
    if now.leaving_s is not None:
        bound_s = FINISH_S if now.finishing else ROTATION_S
        if now.leaving_s < bound_s:
            return "wait", bound_s - now.leaving_s
        return ("give_up" if now.finishing else "finish"), None
    if 0 < bounds.length_s <= now.age_s:
        return "rotate", None
    waits = [bounds.length_s - now.age_s] if bounds.length_s else []
    if bounds.idle_s:
        quiet_s = 0.0 if now.draining else now.quiet_s
        warn_s = bounds.idle_s - min(bounds.warning_s, bounds.idle_s / 2)
        if quiet_s >= bounds.idle_s:
            return "idle", None
        if quiet_s >= warn_s and not now.warned and bounds.warning_s:
            return "warn", None
        waits.append((bounds.idle_s if now.warned or not bounds.warning_s else warn_s) - quiet_s)
    return "wait", min(waits, default=None)


def put_away(quiet_s: float, park_s: float, drop_s: float, away: Away) -> tuple[Away, float | None]:
    """Where a client's own wish puts its session now, and after how many seconds to look again; None is never.

    ``away``: where it was put since its last message. 0 is no wish.
    """
    stages: list[tuple[Away, float]] = [("host", park_s), ("dropped", drop_s)]
    deeper = [stage for stage in stages if stage[1] > 0 and _DEPTH[stage[0]] > _DEPTH[away]]
    due = [tier for tier, after_s in deeper if quiet_s >= after_s]
    waits = [after_s - quiet_s for _, after_s in deeper if after_s > quiet_s]
    return (due[-1] if due else away), min(waits, default=None)
