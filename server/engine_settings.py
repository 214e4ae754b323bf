"""What the server starts its engine with, and what it tells of it. Values only."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sayso.engine import messages
from sayso.server.engine_process import engine_command
from sayso.server.idle import IdleSettings
from sayso.server.power import POWER_SUPPLIES
from sayso.server.pressure import MEMORY_PRESSURE
from sayso.server.protocol.intents import EngineNews


@dataclass(frozen=True)
class EngineSettings:
    """What to start and with what; the rest has good defaults and is set by tests."""

    model: str = "auto"
    device: str = "auto"
    threads: int = 0
    precision: str = "auto"
    command: Sequence[str] = field(default_factory=engine_command)
    silence_s: float = 30.0
    load_s: float = 900.0
    retention: messages.Retention = field(default_factory=messages.Retention)
    idle: IdleSettings = field(default_factory=IdleSettings)
    clock: Callable[[], float] = time.monotonic
    """Tells how long the engine has not been used."""
    memory_pressure: Path = MEMORY_PRESSURE
    """The system's file that tells how scarce memory is."""
    power_supplies: Path = POWER_SUPPLIES
    """The system's folder that tells what the machine runs on."""


@dataclass(frozen=True)
class EngineStatus:
    """What ``/health`` tells; ``startup_ms`` is from the newest spawn or reload to its ``Ready``."""

    news: EngineNews
    ready: messages.Ready | None = None
    startup_ms: int = 0
    start_ms: int = 0
    """Of the newest process; 0 before the first is ready."""
    reload_ms: int = 0
    """Of the newest load of weights that had been dropped; 0 when there was none."""
    restarts: int = 0
    starts: int = 0
    unloads: int = 0
    ends: int = 0
    pid: int = 0
    unused_s: float = 0.0
    on_battery: bool = False
    memory_pressure: float | None = None
    """Percent of the last seconds in which programs waited for memory; None where the system does not tell."""
    memory: messages.Memory | None = None
    metrics: messages.Metrics | None = None
