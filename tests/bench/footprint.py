"""What the assistant costs at rest: `python tests/bench/footprint.py [STARTS]`.

Starts the desktop application as a user does, on a private display with a private microphone, and tells how long it
takes until the window is there, until the engine is ready, and how much memory each process then holds. Targets:
desktop ≤ 150 MB, desktop and server ≤ 195 MB, engine ≤ 450 MB and ready ≤ 4 s. Then one start is spoken to and gives
back ever more: model unloaded, engine ended, everything back, with the page that shows it open and closed; a
``*`` marks what misses a target.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
from integration.desktop_session import BACK_SECONDS, DesktopSession, all_ended, desktop_session, settings_file
from virtual_desktop import virtual_desktop

QUIET_SECONDS = 5.0
"""Between ready and the measurement of memory."""

UNLOAD = '"unload_after_s": 15'
EVERYTHING_BACK = '"end_after_s": 10, "close_after_s": 10, "end_server": true'
ALONE_MB, WITH_SERVER_MB = 150.0, 195.0


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


@contextmanager
def started(controls: str) -> Iterator[DesktopSession]:
    """Sayso with these controls of memory, ready."""
    with virtual_desktop() as desktop:
        settings = settings_file(desktop)
        settings.parent.mkdir(parents=True)
        settings.write_text(f'{{"guided": true, "memory": {{{controls}}}}}')
        with desktop_session(desktop) as session:
            session.wait_for_headline("Ready")
            tell(session, "ready")
            yield session


def everything_back_by_itself() -> None:
    with started(EVERYTHING_BACK) as session:
        family = session.family
        session.wait_for_headline("Resting")
        all_ended(family)
        tell(session, "everything back by itself")
        session.open_memory_page()
        tell(session, "and the page open")


def states() -> None:
    """MB of each process (RSS, and in brackets PSS) in one state after another."""
    with started(UNLOAD) as session:
        session.wait_for_headline("Resting")
        tell(session, "unloaded")
        session.say("volume up")
        session.wait_for_words("volume up", seconds=BACK_SECONDS)
        session.wait_for_headline("Resting")
        tell(session, "unloaded after speech")
        session.open_memory_page()
        tell(session, "the page open")
        family = session.family
        session.reader.wait_for("push button", "Free memory now").press()
        all_ended([max(family, key=lambda process: process.memory_info().rss)])
        tell(session, "engine ended")
        choice = session.reader.wait_for("radio button", "Give everything back")
        session.desktop.focus(session.desktop.wait_for_window("Settings"))
        session.desktop.xdotool("mousemove", *choice.centre, "click", 1)
        session.reader.wait_for("push button", "Free memory now").press()
        all_ended(family)
        tell(session, "everything back")
        settings_window = session.desktop.wait_for_window("Settings")
        session.desktop.focus(settings_window)
        session.desktop.xdotool("key", "Escape")
        session.desktop.wait_until_closed(settings_window)
        tell(session, "the page closed")


def tell(session: DesktopSession, state: str) -> None:
    time.sleep(QUIET_SECONDS)
    told, light = [], 0.0
    for process in [psutil.Process(session.process.pid), *session.family]:
        memory, name = process.memory_full_info(), process.cmdline()[2].removeprefix("sayso.")
        told.append(f"{name} {memory.rss / 1e6:.1f} ({memory.pss / 1e6:.1f})")
        light += memory.rss / 1e6 if name != "engine" else 0.0
    missed = light > (WITH_SERVER_MB if session.family else ALONE_MB)
    print(f"{state:24}", ", ".join(told), "*" if missed else "", flush=True)


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    runs = [one_start() for _ in range(starts)]
    for name in runs[0]:
        values = [run[name] for run in runs if name in run]
        print(f"{name:28} median {statistics.median(values):7.1f}   {min(values):7.1f} to {max(values):7.1f}")
    everything_back_by_itself()
    states()


if __name__ == "__main__":
    main()
