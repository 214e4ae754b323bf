"""Whether the machine runs on its battery, as folders like Linux's tell it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.server.power import on_battery

PLUGGED = {"type": "Mains", "online": "1"}
UNPLUGGED = {"type": "Mains", "online": "0"}
DRAINING = {"type": "Battery", "status": "Discharging"}
CHARGING = {"type": "Battery", "status": "Charging"}
MOUSE = {"type": "Battery", "scope": "Device", "status": "Discharging"}


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ([], False),
        ([UNPLUGGED, DRAINING], True),
        ([DRAINING], True),
        ([PLUGGED, CHARGING], False),
        ([PLUGGED, DRAINING], False),
        ([UNPLUGGED, CHARGING], False),
        ([MOUSE], False),
        ([UNPLUGGED, MOUSE], False),
        ([UNPLUGGED, {"type": "USB", "online": "2"}, DRAINING], False),
    ],
)
def test_a_battery_that_drains_counts_when_nothing_is_plugged_in(
    supplies: list[dict[str, str]], expected: bool, tmp_path: Path
) -> None:
    for number, facts in enumerate(supplies):
        folder = tmp_path / f"supply{number}"
        folder.mkdir()
        for name, value in facts.items():
            (folder / name).write_text(f"{value}\n")
    assert on_battery(tmp_path) is expected


def test_a_system_that_does_not_tell_is_on_mains(tmp_path: Path) -> None:
    assert not on_battery(tmp_path / "none")
