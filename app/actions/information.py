"""The time, the date and the battery. One worker thread at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from sayso.app.actions.base import Done, Family, Job
from sayso.app.actions.errors import ActionError


class Information(Family):
    """Questions whose answer is the detail of the feed's item. ``power`` is the kernel's folder of power supplies."""

    family = "information"

    def __init__(self, power: Path, now: Callable[[], datetime] = datetime.now) -> None:
        self._power = power
        self._now = now

    def perform(self, job: Job) -> Done:
        match job.match.command.verb:
            case "time":
                return Done(f"It is {self._now():%H:%M}")
            case "date":
                now = self._now()
                return Done(f"It is {now:%A}, {now.day} {now:%B %Y}")
        return Done(self._battery())

    def _battery(self) -> str:
        batteries = [each for each in sorted(self._power.glob("*")) if _is_battery(each)]
        if not batteries:
            raise ActionError("no_battery", "This computer has no battery.")
        return "; ".join(_state(each) for each in batteries)


def _is_battery(folder: Path) -> bool:
    """Mice and headsets tell of their batteries too, as devices."""
    return _read(folder / "type") == "Battery" and _read(folder / "scope") != "Device" and bool(_capacity(folder))


def _state(folder: Path) -> str:
    status = _read(folder / "status").lower()
    known = status in ("charging", "discharging", "full", "not charging")
    return f"{_capacity(folder)} percent" + (f", {status}" if known else "")


def _capacity(folder: Path) -> str:
    return _read(folder / "capacity")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
