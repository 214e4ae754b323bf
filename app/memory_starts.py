"""How long the engine takes to come back on this machine: measured whenever it does, and remembered. Event loop."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from sayso.app.local_server import LocalServer
from sayso.app.memory_view import StartTimes
from sayso.app.server_reports import EngineHealth
from sayso.app.settings_store import SettingsStore


class Starts:
    """The newest figures of the local server; those of another model are forgotten."""

    def __init__(self, store: SettingsStore, local: LocalServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._local = local
        self._clock = clock
        self._timed: int | None = None
        """The local server's process whose whole start has been measured."""

    @property
    def times(self) -> StartTimes:
        return self._store.settings.starts

    def ready(self) -> None:
        """The local server's engine can transcribe now; counts once for each process."""
        pid = self._local.pid
        if pid is not None and pid != self._timed:
            self._timed = pid
            took_ms = round((self._clock() - self._local.started_at) * 1000)
            self._keep(replace(self.times, everything_ms=took_ms))

    def learn(self, engine: EngineHealth) -> None:
        """Take over what the local server has measured."""
        known = self.times
        if engine.model and engine.model != known.model:
            known = StartTimes(engine.model, everything_ms=0 if known.model else known.everything_ms)
        unloaded_ms, ended_ms = engine.reload_ms or known.unloaded_ms, engine.start_ms or known.ended_ms
        self._keep(replace(known, unloaded_ms=unloaded_ms, ended_ms=ended_ms))

    def _keep(self, times: StartTimes) -> None:
        if times != self.times:
            self._store.change(starts=times)
