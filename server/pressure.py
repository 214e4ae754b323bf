"""How scarce memory is, as Linux tells it in ``/proc/pressure/memory``. A read of a few bytes, on the event loop.

Source: the kernel's "PSI - Pressure Stall Information": ``some avg10=1.50 avg60=… avg300=… total=…``, in percent.
"""

from __future__ import annotations

from pathlib import Path

MEMORY_PRESSURE = Path("/proc/pressure/memory")


def memory_pressure(file: Path = MEMORY_PRESSURE) -> float | None:
    """Percent of the last ten seconds in which some program waited for memory; None where the system does not tell."""
    try:
        return some_avg10(file.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError):
        # Other systems, older kernels and some containers have no such file: then only time decides.
        return None


def some_avg10(text: str) -> float | None:
    """The figure of the ``some`` line; None when there is none."""
    for line in text.splitlines():
        kind, _, figures = line.partition(" ")
        if kind == "some":
            named = dict(part.partition("=")[::2] for part in figures.split())
            try:
                return float(named["avg10"])
            except (KeyError, ValueError):
                return None
    return None
