"""The brightness of a built-in screen: read from the kernel, set through logind. One worker thread at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from jeepney import DBusAddress

from sayso.app.actions.base import Done, Family, Job, Receipt, Revert
from sayso.app.actions.bus import Bus, comes_true
from sayso.app.actions.errors import ActionError

_STEP_PERCENT = 10
_LEAST_PERCENT = 1
"""A screen without any light could not be read, nor found again."""
_PREFERRED = ("firmware", "platform", "raw")
_SESSION = DBusAddress(
    "/org/freedesktop/login1/session/auto", "org.freedesktop.login1", "org.freedesktop.login1.Session"
)


@dataclass(frozen=True, slots=True)
class Light:
    """A screen's light as the kernel shows it."""

    folder: Path
    most: int

    @property
    def now(self) -> int:
        return _number(self.folder / "brightness")

    @property
    def percent(self) -> int:
        return round(100 * self.now / self.most)


class Brightness(Family):
    """Changes the light, reads it back, and can set what was before."""

    family = "brightness"

    def __init__(self, system: Bus, folder: Path) -> None:
        self._system = system
        self._folder = folder

    def perform(self, job: Job) -> Done:
        light = self._light()
        before, percent = light.now, light.percent
        if job.match.command.verb == "set":
            wanted = job.match.number("level", percent)
        else:
            step = job.match.number("level", _STEP_PERCENT)
            wanted = percent + step if job.match.slots["direction"] == "up" else percent - step
        wanted = min(100, max(_LEAST_PERCENT, wanted))
        # Of few steps the lowest is more than a percent, and none of them is no light.
        arrived = self._set(light, max(1, round(light.most * wanted / 100)), job.halt)
        receipt = Receipt.VERIFIED if arrived else Receipt.SENT
        return Done(f"{light.percent} percent, was {percent} percent", receipt, self._back(light, before))

    def _light(self) -> Light:
        found = sorted(self._folder.glob("*/max_brightness"), key=_preference)
        if not found:
            raise ActionError("no_backlight", "No screen here has a brightness that programs can change.")
        return Light(found[0].parent, max(1, _number(found[0])))

    def _set(self, light: Light, value: int, halt: threading.Event) -> bool:
        with self._system.open() as calls:
            calls.call(_SESSION, "SetBrightness", "ssu", "backlight", light.folder.name, value)
        return comes_true(lambda: light.now == value, halt)

    def _back(self, light: Light, value: int) -> Revert:
        def revert(halt: threading.Event) -> Done:
            arrived = self._set(light, value, halt)
            return Done(f"{light.percent} percent again", Receipt.VERIFIED if arrived else Receipt.SENT)

        return revert


def _preference(file: Path) -> tuple[int, str]:
    """The kernel's own order of trust: firmware before platform before raw."""
    try:
        kind = (file.parent / "type").read_text(encoding="ascii").strip()
    except OSError:
        kind = ""
    return _PREFERRED.index(kind) if kind in _PREFERRED else len(_PREFERRED), file.parent.name


def _number(file: Path) -> int:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise ActionError("backlight_unreadable", f"The brightness of {file.parent.name} cannot be read.") from error
