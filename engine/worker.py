"""One step over everything an engine serves, whatever kind of session it is. Loop thread.

A *worker* owns the sessions of one kind of model and runs them; the scheduler alone decides what runs next, over the
offers of all workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sayso.engine.scheduler import Scheduler, Work


class Worker(Protocol):
    """Sessions of one kind. Session names are its own: no two workers of an engine use the same."""

    def offers(self, now: float) -> list[Work]:
        """What could be computed at ``now`` (loop clock, seconds); at most one work for each session."""
        ...

    def run(self, works: Sequence[Work], now: float) -> None:
        """One batched step of works it offered, all of equal key. A fault of a model ends sessions, not the call."""
        ...


def step(scheduler: Scheduler, workers: Sequence[Worker], now: float) -> int:
    """Run the most urgent works of all workers that can run together; says how many those were."""
    owners: dict[str, Worker] = {}
    offered: list[Work] = []
    for worker in workers:
        works = worker.offers(now)
        owners.update((work.session, worker) for work in works)
        offered += works
    shares: dict[Worker, list[Work]] = {}
    for work in scheduler.pick(offered):
        shares.setdefault(owners[work.session], []).append(work)
    for worker, works in shares.items():
        worker.run(works, now)
    return sum(len(works) for works in shares.values())
