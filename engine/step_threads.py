"""How many threads operations on the CPU are shared among: the only place that tells torch.

Whoever loads a model says how many there may be (``share_among``); a model of short steps learns from its own steps how
many of them it uses (``StepThreads``).

Sharing an operation pays when the other threads are there at once. A small step is sooner done by one thread; so is a
large one while other programs keep the cores busy, when it waits for a thread that has no core. No constant knows that
beforehand: with a small Voxtral in int8 on two free cores two threads did 159 steps a second and one 113; with one core
busy two did 33 and one 114. So every kind of step is timed. Loop thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

FIRST_TRIAL, LAST_TRIAL = 4, 1024
"""Steps until another number is tried: few at first, ``PATIENCE`` times as many whenever it loses."""
PATIENCE = 4
_NEWEST = 0.3
"""Weight of the newest time in an average."""


@dataclass
class _Kind:
    """What is known of one kind of step."""

    seconds: dict[int, float] = field(default_factory=dict)
    """The average time by number of threads; of one that is not in use, its last."""
    tried: dict[int, int] = field(default_factory=dict)
    """The step that last used a number."""
    steps: int = 0
    """So many were made."""
    interval: int = FIRST_TRIAL
    next_trial: int = FIRST_TRIAL

    @property
    def best(self) -> int | None:
        """The number with the least time, if any was used yet."""
        return min(self.seconds, key=self.seconds.__getitem__, default=None)


class ThreadChoice:
    """Which number of threads, up to ``most``, does a kind of step soonest. Plain values, no clock.

    Most steps use the number that was best; now and then another has its turn, so that it is noticed when the machine
    becomes busy or idle.
    """

    def __init__(self, most: int) -> None:
        self._counts = sorted({1, max(1, most // 2), max(1, most)}, reverse=True)
        self._kinds: dict[Hashable, _Kind] = {}

    def choose(self, kind: Hashable) -> int:
        """The number for the next step of this kind: ``most`` as long as nothing is known."""
        known = self._kinds.setdefault(kind, _Kind())
        if known.steps >= known.next_trial:
            return min(self._counts, key=lambda count: known.tried.get(count, -1))
        return known.best or self._counts[0]

    def took(self, kind: Hashable, count: int, seconds: float) -> None:
        """A step of this kind on so many threads took so long."""
        known = self._kinds.setdefault(kind, _Kind())
        best, tried = known.best, known.steps >= known.next_trial
        average = known.seconds.get(count, seconds)
        if count == best:
            # One step that was disturbed says little; when all of them are slow the average soon follows.
            seconds = (1 - _NEWEST) * average + _NEWEST * min(seconds, 2 * average)
        known.seconds[count] = seconds
        if known.best != best:
            known.interval = FIRST_TRIAL
        elif tried:
            known.interval = min(PATIENCE * known.interval, LAST_TRIAL)
        if known.best != best or tried:
            known.next_trial = known.steps + known.interval
        known.tried[count] = known.steps
        known.steps += 1


def share_among(threads: int) -> None:
    """Share what is computed from now on among so many threads, except within the steps of a ``StepThreads``."""
    torch.set_num_threads(threads)


class StepThreads:
    """Runs steps on the number of threads that suits them."""

    def __init__(self, most: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self._choice = ThreadChoice(most)
        self._clock = clock

    @contextmanager
    def step(self, kind: Hashable) -> Iterator[None]:
        """Within, operations that this thread starts are shared; a step that fails teaches nothing."""
        count, before = self._choice.choose(kind), torch.get_num_threads()
        torch.set_num_threads(count)
        began = self._clock()
        try:
            yield
        finally:
            torch.set_num_threads(before)
        self._choice.took(kind, count, self._clock() - began)
