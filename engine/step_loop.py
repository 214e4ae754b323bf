"""A thread that runs the steps of some workers. What others want of the workers is posted to it as an action.

It blocks when nothing can be run and nothing came in; it never polls. An error that is nobody's fault but the
engine's ends the thread and is told through ``on_death``.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from sayso.engine.scheduler import Scheduler
from sayso.engine.worker import Worker, step

logger = logging.getLogger(__name__)


class LoopWorker(Worker, Protocol):
    """A worker that also has deadlines of its own and something to deliver."""

    def expire(self, now: float) -> None:
        """Do what time alone asks for."""
        ...

    def expires(self) -> float | None:
        """When ``expire`` is to be called next, on the loop's clock; None for never."""
        ...


class StepLoop:
    """See the module. ``deliver`` runs in the thread before and after each step."""

    def __init__(
        self,
        scheduler: Scheduler,
        workers: Sequence[LoopWorker],
        deliver: Callable[[], None],
        on_death: Callable[[BaseException], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scheduler = scheduler
        self._workers = workers
        self._deliver = deliver
        self._on_death = on_death
        self._clock = clock
        self._actions: deque[Callable[[float], None]] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="sayso-steps", daemon=True)
        self.round_began: float | None = None
        """When the round that runs now began, on the loop's clock; None while the thread waits."""

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def post(self, action: Callable[[float], None]) -> None:
        """Have ``action(now)`` run in the thread, in the order posted. From any thread."""
        with self._wake:
            self._actions.append(action)
            self._wake.notify()

    def stop(self, timeout_s: float) -> bool:
        """End after the step at hand; False when that took too long. Actions not yet run are dropped."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while self._round():
                pass
        except BaseException as error:  # a dead thread must tell those who wait for it
            logger.critical("the engine's loop died", exc_info=error)
            self._on_death(error)

    def _round(self) -> bool:
        actions = self._take()
        if actions is None:
            return False
        self.round_began = now = self._clock()
        for action in actions:
            action(now)
        for worker in self._workers:
            worker.expire(now)
        # What was said without a step must not wait for one.
        self._deliver()
        self._busy = step(self._scheduler, self._workers, now) > 0
        self._deliver()
        self.round_began = None
        return True

    def _take(self) -> list[Callable[[float], None]] | None:
        """Actions that came; waits for one, or for a deadline, when the last step found no work. None to stop."""
        ends = [at for worker in self._workers if (at := worker.expires()) is not None]
        wait_s = max(0.0, min(ends) - self._clock()) if ends else None
        with self._wake:
            if not self._busy:
                self._wake.wait_for(lambda: self._actions or self._stopping, wait_s)
            if self._stopping:
                return None
            actions = list(self._actions)
            self._actions.clear()
            return actions
