"""The assistant at work for long: every command is carried out, and nothing grows. Only by `make soak`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import psutil
import pytest
from integration.desktop_session import DesktopSession, desktop_session
from virtual_desktop import virtual_desktop

pytestmark = [pytest.mark.soak, pytest.mark.desktop, pytest.mark.engine]

MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))
WARM_ROUNDS = 70
"""Rounds of three commands before the first measurement: caches fill in them, transcript and feed up to their 200."""
CURVE_ROUNDS = 10
"""Between two points of the curve that is printed."""
HEARD_S = 90.0
"""From the end of speech until its effect must be there: here growth is measured, and others may use the machine."""
DESKTOP_GROWTH_MB = 5.0
"""Of the desktop's own process: an hour here is more commands than eight hours of use."""


@dataclass(frozen=True)
class Footprint:
    """What one process takes."""

    name: str
    memory_mb: float
    threads: int
    files: int


def footprints(session: DesktopSession) -> dict[int, Footprint]:
    processes = [psutil.Process(session.process.pid), *session.family]
    return {
        each.pid: Footprint(each.cmdline()[2], each.memory_full_info().uss / 2**20, each.num_threads(), each.num_fds())
        for each in processes
    }


def test_an_hour_of_commands_leaves_nothing_behind() -> None:
    with virtual_desktop() as desktop, desktop_session(desktop) as session:
        session.wait_for_headline("Ready")
        ends, rounds = time.monotonic() + 60 * MINUTES, 0
        first: dict[int, Footprint] = {}
        while time.monotonic() < ends or rounds <= WARM_ROUNDS:
            one_round(session)
            rounds += 1
            if rounds % CURVE_ROUNDS == 0:
                held = " ".join(f"{each.name} {each.memory_mb:.1f}" for each in footprints(session).values())
                print(f"{rounds} rounds, MB: {held}", flush=True)
            if rounds == WARM_ROUNDS:
                first = footprints(session)
        last = footprints(session)
        assert last.keys() == first.keys(), "a process was started anew"
        for pid, before in first.items():
            after = last[pid]
            print(f"{rounds} rounds: {before} -> {after}")
            desktop = pid == session.process.pid
            assert after.memory_mb <= (before.memory_mb + DESKTOP_GROWTH_MB if desktop else before.memory_mb * 1.1 + 10)
            assert after.threads <= before.threads + 1
            assert after.files <= before.files + 2


def one_round(session: DesktopSession) -> None:
    """Type by voice, turn the volume up and back, close a window."""
    sound = session.desktop.sound
    assert sound is not None
    with session.desktop.terminal() as terminal:
        session.say("type hello world")
        terminal.wait_for_text("orld", HEARD_S)
        sound.volume = 0.4
        session.say("volume up")
        session.reader.wait_until(lambda: sound.volume > 0.42, "a louder speaker", HEARD_S)
        session.desktop.focus(terminal.window)
        session.say("close window")
        session.desktop.wait_until_closed(terminal.window, HEARD_S)
