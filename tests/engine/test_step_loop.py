"""The thread of steps: it works while there is work, waits without turning, wakes for actions and for deadlines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from sayso.engine.scheduler import Scheduler, Work
from sayso.engine.step_loop import StepLoop

BOUND_S = 20.0


class Counter:
    """A worker with a number of works to do."""

    def __init__(self) -> None:
        self.left = 0
        self.rounds = 0
        self.at: float | None = None
        self.idle = threading.Event()
        self.expired = threading.Event()

    def offers(self, now: float) -> list[Work]:
        self.rounds += 1
        if not self.left:
            self.idle.set()
        return [Work("a", 1.0, now)] if self.left else []

    def run(self, works: Sequence[Work], now: float) -> None:
        self.left -= 1

    def expire(self, now: float) -> None:
        if self.at is not None and now >= self.at:
            self.at = None
            self.expired.set()

    def expires(self) -> float | None:
        return self.at


class Started:
    """A loop over one worker; what was delivered and what it died of."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.counter = Counter()
        self.died: list[BaseException] = []
        self.dead = threading.Event()
        self.delivered = 0
        self.loop = StepLoop(Scheduler(4, 400.0), (self.counter,), self._deliver, self._died, clock)
        self.loop.start()

    def _deliver(self) -> None:
        self.delivered += 1

    def _died(self, error: BaseException) -> None:
        self.died.append(error)
        self.dead.set()

    def work(self, number: int) -> None:
        def act(now: float) -> None:
            self.counter.left += number
            self.counter.idle.clear()

        self.loop.post(act)
        self.loop.post(lambda now: None)

    def settle(self) -> None:
        """Until all that was posted has been seen and there is nothing to do."""
        seen = threading.Event()
        self.loop.post(lambda now: (self.counter.idle.clear(), seen.set())[0])
        assert seen.wait(BOUND_S)
        assert self.counter.idle.wait(BOUND_S)


def test_all_work_is_run_and_then_the_thread_waits_without_turning() -> None:
    started = Started()
    started.work(5)
    started.settle()
    assert started.counter.left == 0
    assert started.delivered >= 6
    assert started.loop.stop(BOUND_S)
    rounds = started.counter.rounds
    assert rounds <= 12
    assert not started.loop.alive


def test_actions_run_in_the_order_posted_and_in_the_thread() -> None:
    started, seen = Started(), []
    for number in range(100):
        started.loop.post(lambda now, number=number: seen.append((number, threading.current_thread().name)))
    started.settle()
    assert seen == [(number, "sayso-steps") for number in range(100)]
    assert started.loop.stop(BOUND_S)


def test_a_deadline_wakes_the_thread() -> None:
    started = Started(time.monotonic)

    def soon(now: float) -> None:
        started.counter.at = now + 0.01

    started.loop.post(soon)
    assert started.counter.expired.wait(BOUND_S)
    assert started.loop.stop(BOUND_S)


def test_an_error_of_its_own_ends_the_thread_and_is_told() -> None:
    started = Started()

    def dies(now: float) -> None:
        raise OSError("broken")

    started.loop.post(dies)
    assert started.dead.wait(BOUND_S)
    assert [str(error) for error in started.died] == ["broken"]
    assert started.loop.stop(BOUND_S)


def test_stopping_does_not_wait_for_ever_for_a_step() -> None:
    started, held, began = Started(), threading.Event(), threading.Event()
    started.loop.post(lambda now: (began.set(), held.wait(BOUND_S))[0])
    assert began.wait(BOUND_S)
    assert not started.loop.stop(0.01)
    held.set()
    assert started.loop.stop(BOUND_S)
