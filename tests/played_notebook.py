"""A notebook's screen and battery as Linux shows them under /sys/class, with the logind that may set the light.

``python tests/played_notebook.py FOLDER`` is the desktop itself, whole and real, on the notebook with these files.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

from played_machine import PlayedMachine
from played_service import PlayedService, played, private_bus

LOGIND = "org.freedesktop.login1"
MOST = 1000


class PlayedNotebook:
    """Its light is at 400 of 1000 and its battery at 83 percent, until told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine = PlayedMachine(folder)
        self.light = backlight(folder)
        self.charge(83)

    def charge(self, percent: int) -> None:
        (self.folder / "power_supply" / "BAT0" / "capacity").write_text(f"{percent}\n")

    @property
    def percent(self) -> int:
        """Of the light."""
        return 100 * int((self.light / "brightness").read_text()) // MOST


def backlight(hardware: Path, name: str = "intel_backlight", kind: str = "raw") -> Path:
    """The files of a screen's light at 400 of 1000."""
    folder = hardware / "backlight" / name
    folder.mkdir(parents=True)
    for fact, value in {"max_brightness": MOST, "brightness": 400, "type": kind}.items():
        (folder / fact).write_text(f"{value}\n")
    return folder


def logind(hardware: Path) -> PlayedService:
    """It writes the light's file, as the system's own does for the user who sits there."""

    def do(method: str, body: tuple[Any, ...]) -> None:
        subsystem, name, value = body
        (hardware / subsystem / name / "brightness").write_text(f"{value}\n")

    return PlayedService(on_call=do)


@contextlib.contextmanager
def notebook(folder: Path, environment: MutableMapping[str, str]) -> Iterator[PlayedNotebook]:
    """Programs started with this environment find its logind on the system's bus."""
    made = PlayedNotebook(folder / "class")
    with private_bus(folder) as address, played(address, LOGIND, logind(made.folder)):
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
        yield made


def main() -> int:
    from sayso.app import __main__ as desktop
    from sayso.app import composition

    # The composition root takes the kernel's folder as an argument, and nothing else here differs from a user's start.
    composition.compose = partial(composition.compose, hardware=Path(sys.argv.pop(1)))
    return desktop.main()


if __name__ == "__main__":
    sys.exit(main())
