"""How fast models were measured to be on this machine, and which one that speaks for.

``advise`` is pure. ``Speeds`` reads and writes one small file in the user's cache folder, on a worker thread; a figure
counts for one processor, device and number of threads.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import msgspec
import platformdirs

KEEPS_UP = 0.7
"""A model may take so many seconds for each second of speech: text then comes while one speaks."""
LEAVES_ROOM = 0.4
"""With less than this, the programs that one works with hardly notice."""
_BASE_COSTS = 2.1
"""Times the work of Whisper tiny that base takes, by the numbers of their weights and by measuring both."""
_FILE = "speeds.json"


@dataclass(frozen=True, slots=True)
class Advice:
    """Which of the two small models to use, and why, in words for people."""

    base: bool
    reason: str
    certain: bool = True
    """Base itself was measured, not only estimated from tiny."""


def advise(tiny: float | None, base: float | None) -> Advice:
    """Base where it leaves room; both are seconds of computing for each second of speech, None is not measured."""
    if base is not None:
        return _advise(base, f"On this computer it takes {seconds(base)} for each second of speech", certain=True)
    if tiny is not None:
        estimate = tiny * _BASE_COSTS
        return _advise(estimate, f"It should take about {seconds(estimate)} for each second of speech", certain=False)
    return Advice(False, "How fast it is on this computer has not been measured yet.", False)


def _advise(factor: float, found: str, *, certain: bool) -> Advice:
    if factor <= LEAVES_ROOM:
        return Advice(True, f"{found}, which leaves room for everything else.", certain)
    if factor <= KEEPS_UP:
        return Advice(False, f"{found}: it keeps up, but the computer would be busy while you speak.", certain)
    return Advice(False, f"{found}: the words would come late.", certain)


def seconds(factor: float) -> str:
    """“0.25 s”, with as many digits as can be relied on."""
    return f"{factor:.2f} s" if factor < 1 else f"{factor:.1f} s"


def machine() -> str:
    """What tells this machine from another one that shares the home folder: its processor and usable cores."""
    return f"{_processor()}, {usable_cores()} cores"


def usable_cores() -> int:
    """Cores that this process and its children may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        name = ""
    return name or platform.processor() or platform.machine()


class Speeds:
    """Figures by place (machine, device and threads as chosen) and model."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = (folder or platformdirs.user_cache_path("sayso", appauthor=False)) / _FILE
        self._known: dict[str, dict[str, float]] = {}

    def load(self) -> None:
        """Read what was measured before; a file that cannot be read is as good as none, since it can be measured."""
        try:
            self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, float]])
        except (OSError, msgspec.DecodeError):
            self._known = {}

    def get(self, model: str, device: str, threads: int) -> float | None:
        return self._known.get(_place(device, threads), {}).get(model)

    def keep(self, model: str, device: str, threads: int, factor: float) -> bool:
        """Remember a figure; whether it could be written, too."""
        self._known.setdefault(_place(device, threads), {})[model] = factor
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part = self._path.with_suffix(".part")
            part.write_bytes(msgspec.json.encode(self._known))
            part.replace(self._path)
        except OSError:
            return False
        return True


def _place(device: str, threads: int) -> str:
    return f"{machine()}, {device}, {threads or 'automatic'} threads"
