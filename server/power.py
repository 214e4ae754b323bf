"""Whether the machine runs on its battery, as Linux tells it in ``/sys/class/power_supply``. A few small reads.

Source: the kernel's "sysfs-class-power": ``type`` is Mains, USB, Battery …, ``online`` 1 for a supply in use, ``scope``
Device for the battery of a mouse, ``status`` Discharging.
"""

from __future__ import annotations

from pathlib import Path

POWER_SUPPLIES = Path("/sys/class/power_supply")


def on_battery(folder: Path = POWER_SUPPLIES) -> bool:
    """False where the system does not tell, as on machines without a battery."""
    try:
        supplies = [_facts(entry) for entry in sorted(folder.iterdir())]
    except OSError:
        return False
    outside = [supply for supply in supplies if supply["type"] in ("Mains", "USB", "Wireless")]
    batteries = [supply for supply in supplies if supply["type"] == "Battery" and supply["scope"] != "Device"]
    if any(supply["online"] not in ("", "0") for supply in outside):
        return False
    return any(battery["status"] == "Discharging" for battery in batteries)


def _facts(supply: Path) -> dict[str, str]:
    return {name: _read(supply / name) for name in ("type", "scope", "online", "status")}


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        # A supply that was unplugged meanwhile, or that has no such figure.
        return ""
