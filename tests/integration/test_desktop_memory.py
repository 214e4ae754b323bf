"""Memory as its user sees it: chosen in the real window, seen in the processes, and nothing said is lost by it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psutil
import pytest
from bounded import wait_for
from integration.desktop_session import BACK_SECONDS, DesktopSession, all_ended, desktop_session, words
from virtual_desktop import VirtualDesktop

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

ALONE_BYTES = 150_000_000
"""Of the desktop when it has given everything back; pages that it shares with other programs count in part (PSS)."""


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    with desktop_session(desktop) as started:
        started.wait_for_headline("Ready")
        started.open_memory_page()
        yield started


def chosen(session: DesktopSession) -> dict[str, float]:
    """What the settings' file says of memory."""
    path = session.desktop.folder / "home/.config/sayso/settings.json"
    return json.loads(path.read_text())["memory"] if path.exists() else {}


def held(session: DesktopSession) -> int:
    return int(psutil.Process(session.process.pid).memory_full_info().pss)


def test_freeing_ends_the_engine_and_the_window_says_how_much_came_back(session: DesktopSession) -> None:
    wait_for(lambda: len(session.family) == 2, "a server and an engine")
    engine = max(session.family, key=lambda process: process.memory_info().rss)
    session.reader.wait_for("", "Memory over time")
    session.reader.wait_for("push button", "Free memory now").press()
    all_ended([engine])
    told = session.reader.wait_for("label", "came back")
    assert "engine" in told.name
    assert len(session.family) == 1
    session.wait_for_headline("Resting")
    lines = len(session.lines)
    session.say("volume up")
    session.wait_for_words("volume up", since=lines, seconds=BACK_SECONDS)
    assert len(session.family) == 2


def test_everything_comes_back_and_a_command_spoken_then_is_heard_whole(session: DesktopSession) -> None:
    family, actions = session.family, len(session.actions)
    choice = session.reader.wait_for("radio button", "Give everything back")
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    session.desktop.xdotool("mousemove", *choice.centre, "click", 1)
    wait_for(lambda: chosen(session).get("end_server"), "the choice in the settings")
    session.reader.wait_for("push button", "Free memory now").press()
    all_ended(family)
    session.wait_for_headline("Resting")
    assert session.family == []
    alone = held(session)
    print(f"the desktop alone: {alone / 1e6:.0f} MB")
    assert alone < ALONE_BYTES
    lines = len(session.lines)
    session.say("set the volume to forty percent")
    session.wait_for_action("Set the volume to 40 percent", since=actions, seconds=BACK_SECONDS)
    said = words(" ".join(session.lines[lines:]))
    assert said.startswith("set")
    assert "volume to 40 percent" in said
    session.wait_for_headline("Ready")
    assert "Traceback" not in session.log.read_text()
