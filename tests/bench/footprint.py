"""What the assistant costs at rest: `python tests/bench/footprint.py [STARTS]`.

Starts the desktop application as a user does, on a private display with a private microphone, and tells how long it
takes until the window is there, until the engine is ready, and how much memory each process then holds. Targets:
desktop ≤ 150 MB, desktop and server ≤ 195 MB, engine ≤ 450 MB and ready ≤ 4 s.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
from integration.desktop_session import desktop_session
from virtual_desktop import virtual_desktop

QUIET_SECONDS = 5.0
"""Between ready and the measurement of memory."""


def one_start() -> dict[str, float]:
    """Seconds and MB of one start; memory is the proportional share (PSS), so that shared pages count once."""
    with virtual_desktop() as desktop:
        started = time.monotonic()
        with desktop_session(desktop) as session:
            desktop.wait_for_window("Sayso", 60)
            window_s = time.monotonic() - started
            session.reader.wait_for("label", "On this computer", 60)
            ready_s = time.monotonic() - started
            time.sleep(QUIET_SECONDS)
            figures = {"window s": window_s, "ready s": ready_s}
            for process in [psutil.Process(session.process.pid), *session.family]:
                memory = process.memory_full_info()
                name = process.cmdline()[2]
                figures[f"{name} RSS MB"] = memory.rss / 1e6
                figures[f"{name} PSS MB"] = memory.pss / 1e6
            return figures


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    runs = [one_start() for _ in range(starts)]
    for name in runs[0]:
        values = [run[name] for run in runs if name in run]
        print(f"{name:28} median {statistics.median(values):7.1f}   {min(values):7.1f} to {max(values):7.1f}")


if __name__ == "__main__":
    main()
