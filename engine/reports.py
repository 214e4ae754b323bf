"""What the engine says of itself, and when: memory after changes and metrics while it works. Loop thread.

Before memory is told, what libraries keep of it is given back; see ``engine.kernel_cache`` for what waits for quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psutil

from sayso.engine import messages as m
from sayso.engine.kernel_cache import forget_kernels
from sayso.engine.loading import Loaded, device_bytes, give_back_memory
from sayso.engine.options import Reporting
from sayso.engine.session import Session


class Reports:
    """Counts steps, remembers when something last happened, and gives the reports that are due."""

    def __init__(self, clock: Callable[[], float], options: Reporting | None = None) -> None:
        self._clock = clock
        self._options = options or Reporting()
        self._process = psutil.Process()
        self._steps = 0
        self._step_ms = 0.0
        self._batched = 0
        self._changed = self._stepped = False
        self._memory_at = self._metrics_at = clock()
        self._quiet_at: float | None = None
        """When it will have been quiet for long enough to give memory back that only makes steps faster."""
        self._opened_at: dict[str, float] = {}
        self._touched_at: dict[str, float] = {}

    def touch(self, session: str | None) -> None:
        """A message came: memory may be different now."""
        self._changed = True
        if session in self._opened_at:
            self._touched_at[session] = self._clock()

    def idle_s(self, session: str) -> float:
        """Seconds since something was heard of a session, never less than none whatever the clock does."""
        return max(0.0, self._clock() - self._touched_at[session])

    def opened(self, session: str) -> None:
        self._opened_at[session] = self._touched_at[session] = self._clock()

    def closed(self, session: str) -> None:
        self._opened_at.pop(session, None)
        self._touched_at.pop(session, None)
        self._changed = True

    def moved(self) -> None:
        """A session was put away or brought back: its memory is elsewhere now, without any message that came."""
        self._changed = True

    def stepped(self, batch: int, step_ms: float) -> None:
        """One step of the model is done."""
        self._steps += 1
        self._step_ms += step_ms
        self._batched += batch
        self._changed = self._stepped = True
        self._quiet_at = self._clock() + self._options.quiet_s

    def wait_s(self) -> float | None:
        """Seconds until the next report is due; None when nothing changed since the last one."""
        self._follow(self._clock())
        waits = []
        if self._changed:
            waits.append(self._memory_at + self._options.memory_s)
        if self._stepped:
            waits.append(self._metrics_at + self._options.metrics_s)
        if self._quiet_at is not None:
            waits.append(self._quiet_at)
        return max(0.0, min(waits) - self._clock()) if waits else None

    def _follow(self, now: float) -> None:
        """A clock that jumped back makes nothing later than it would be from now on."""
        self._memory_at, self._metrics_at = min(self._memory_at, now), min(self._metrics_at, now)
        if self._quiet_at is not None:
            self._quiet_at = min(self._quiet_at, now + self._options.quiet_s)

    def due(
        self, sessions: Mapping[str, Session], loaded: Loaded | None, texts: Callable[[], tuple[m.Ledger, ...]] = tuple
    ) -> list[m.Message]:
        """The reports whose time has come; ``texts`` tells what text sessions hold."""
        now, out = self._clock(), list[m.Message]()
        self._follow(now)
        if self._quiet_at is not None and now >= self._quiet_at:
            self._quiet_at, self._changed = None, True
            forget_kernels()
        if self._stepped and now - self._metrics_at >= self._options.metrics_s:
            self._metrics_at, self._stepped = now, False
            lag_ms = max((session.behind_ms for session in sessions.values()), default=0.0)
            out.append(m.Metrics(self._steps, self._step_ms / self._steps, self._batched / self._steps, lag_ms))
        if self._changed and now - self._memory_at >= self._options.memory_s:
            self._memory_at, self._changed = now, False
            give_back_memory()
            ledgers = tuple(self._ledger(session, now) for session in sessions.values()) + texts()
            weights = sum(each.weight_bytes for each in (loaded.runner, loaded.text) if each) if loaded else 0
            device = device_bytes(loaded.device) + loaded.runner.mapped_bytes if loaded else 0
            kv, host, disk = (sum(getattr(each, tier) for each in ledgers) for tier in ("kv", "kv_host", "kv_disk"))
            out.append(m.Memory(self._process.memory_info().rss, weights, device, ledgers, kv, host, disk))
        return out

    def _ledger(self, session: Session, now: float) -> m.Ledger:
        """What a session holds."""
        return session.ledger(self.idle_s(session.name), max(0.0, now - self._opened_at[session.name]))
