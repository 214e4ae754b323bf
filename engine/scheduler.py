"""Which work runs next. Pure: it sees costs, deadlines and keys, never a tensor or a clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One session's next piece of work."""

    session: str
    cost_ms: float
    deadline: float
    """Seconds on the loop's clock."""
    batch_key: tuple[object, ...] = ()


@dataclass(frozen=True)
class Scheduler:
    """Takes the nearest deadline, then what can run in the same batch, within a number and a cost.

    As every piece of work gets an older deadline the longer it waits, nothing waits for ever, and a session whose
    pieces are dear takes its turn like the others.
    """

    batch: int
    batch_cost_ms: float

    def pick(self, offered: Iterable[Work]) -> list[Work]:
        """The works of the next step, all of equal key; empty only when nothing was offered."""
        queue = sorted(offered, key=lambda work: work.deadline)
        if not queue:
            return []
        picked, cost_ms = [queue[0]], queue[0].cost_ms
        for work in queue[1:]:
            if len(picked) == self.batch:
                break
            if work.batch_key == queue[0].batch_key and cost_ms + work.cost_ms <= self.batch_cost_ms:
                picked.append(work)
                cost_ms += work.cost_ms
        return picked
