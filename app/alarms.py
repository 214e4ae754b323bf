"""Timers and reminders that wait for their time. ``run`` belongs to the event loop; the rest to any thread.

They live as long as the app: quitting forgets them.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST_SLEEP_S = 5.0
"""A computer that was suspended wakes up with an alarm overdue: so often the clock is looked at."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One timer or reminder."""

    id: int
    title: str
    """What is shown when it is due, in words for people."""
    kind: str
    """“timer” or “reminder”."""
    due: float
    """Seconds of the clock."""


def clock() -> float:
    """Seconds that go on while the computer is suspended, where the system can tell."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class Alarms:
    """What is set. ``longest_sleep_s`` is how long a change of the clock alone may go unseen."""

    def __init__(self, clock: Callable[[], float] = clock, longest_sleep_s: float = _LONGEST_SLEEP_S) -> None:
        self._clock = clock
        self._longest_sleep_s = longest_sleep_s
        self._lock = threading.Lock()
        self._pending: dict[int, Alarm] = {}
        self._ids = itertools.count(1)
        self._wake: Callable[[], None] | None = None

    def add(self, title: str, kind: str, seconds: float) -> Alarm:
        """Set an alarm that is due in some seconds."""
        with self._lock:
            alarm = Alarm(next(self._ids), title, kind, self._clock() + seconds)
            self._pending[alarm.id] = alarm
            wake = self._wake
        if wake is not None:
            wake()
        return alarm

    def remove(self, alarm: Alarm) -> bool:
        """Forget an alarm; False where it was due or forgotten already."""
        with self._lock:
            return self._pending.pop(alarm.id, None) is not None

    def pending(self) -> tuple[Alarm, ...]:
        """What is set, the next one first."""
        with self._lock:
            return tuple(sorted(self._pending.values(), key=lambda alarm: alarm.due))

    def left(self, alarm: Alarm) -> float:
        """Seconds until an alarm is due, at least 0."""
        return max(0.0, alarm.due - self._clock())

    async def run(self, on_due: Callable[[Alarm], None]) -> None:
        """Tell of every alarm when it is due, until cancelled."""
        changed = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        self._wake = wake
        try:
            while True:
                changed.clear()
                for alarm in self._take_due():
                    on_due(alarm)
                try:
                    async with asyncio.timeout(self._sleep_s()):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            self._wake = None

    def _take_due(self) -> list[Alarm]:
        now = self._clock()
        due = [alarm for alarm in self.pending() if alarm.due <= now]
        return [alarm for alarm in due if self.remove(alarm)]

    def _sleep_s(self) -> float | None:
        """How long to sleep; without an alarm, until one is set."""
        pending = self.pending()
        return min(self.left(pending[0]), self._longest_sleep_s) if pending else None
