"""Memory of Sayso's processes over time: one sample a look, the last ten minutes kept. Event loop; no waiting."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from sayso.app.memory_view import Sample
from sayso.app.server_reports import Health

KEPT_S = 600.0
_STATM = Path("/proc/self/statm")


class Samples:
    """A ring of samples; older ones than ``KEPT_S`` go with the next one."""

    def __init__(self) -> None:
        self._ring: deque[Sample] = deque()

    @property
    def all(self) -> tuple[Sample, ...]:
        return tuple(self._ring)

    def add(self, sample: Sample) -> None:
        self._ring.append(sample)
        while sample.at_s - self._ring[0].at_s > KEPT_S:
            self._ring.popleft()


def own_memory() -> int:
    """Resident bytes of this process, as the operating system sees it."""
    if _STATM.exists():
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    # Where there is no /proc; the import costs memory that Linux can do without.
    import psutil

    return int(psutil.Process().memory_info().rss)


def sample(at_s: float, desktop: int, health: Health | None, *, ended: bool) -> Sample:
    """What is known at this moment. ``ended``: no server runs, so that it and its engine have no memory."""
    if health is None:
        nothing = 0 if ended else None
        return Sample(at_s, desktop, nothing, nothing, nothing)
    server = health.server.resident_bytes if health.server is not None else None
    return Sample(at_s, desktop, server, health.engine.resident_bytes, health.engine.device_bytes)
