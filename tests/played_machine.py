"""A notebook's files as Linux has them: what it runs on, and how scarce memory is. A server is given their place.

``python tests/played_machine.py FOLDER`` is the desktop's own server, with its real engine, on such a machine.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from sayso.server import __main__ as server
from sayso.server import run
from sayso.server.config import ServerConfig
from sayso.server.engine_settings import EngineSettings


def on_machine(settings: EngineSettings, folder: Path) -> EngineSettings:
    """These settings, for a server on the machine whose files are in this folder."""
    return replace(settings, power_supplies=folder / "power_supply", memory_pressure=folder / "pressure")


class PlayedMachine:
    """Plugged in and with memory to spare, until told otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._supplies, self._pressure = folder / "power_supply", folder / "pressure"
        for name, facts in {
            "AC": {"type": "Mains"},
            "BAT0": {"type": "Battery", "scope": "System"},
            "hidpp_battery_0": {"type": "Battery", "scope": "Device", "status": "Discharging"},
        }.items():
            for fact, value in facts.items():
                self._write(self._supplies / name / fact, value)
        self.plug(True)
        self.press(0.0)

    def plug(self, plugged: bool) -> None:
        """Put the plug in, or pull it."""
        self._write(self._supplies / "AC" / "online", "1" if plugged else "0")
        self._write(self._supplies / "BAT0" / "status", "Charging" if plugged else "Discharging")

    def press(self, percent: float) -> None:
        """So much of the last ten seconds some program waited for memory."""
        lines = [f"{kind} avg10={percent:.2f} avg60=0.00 avg300=0.00 total=0" for kind in ("some", "full")]
        self._write(self._pressure, "\n".join(lines))

    def around(self, settings: EngineSettings) -> EngineSettings:
        """These settings, for a server on this machine."""
        return on_machine(settings, self.folder)

    @staticmethod
    def _write(file: Path, text: str) -> None:
        """In one step, as the kernel's files never are half written."""
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(f"{text}\n")
        new.replace(file)


def main() -> int:
    as_started = run.engine_settings

    def here(config: ServerConfig) -> EngineSettings:
        return on_machine(as_started(config), Path(sys.argv[1]))

    run.engine_settings = here
    return server.main()


if __name__ == "__main__":
    raise SystemExit(main())
