"""The first start of Sayso: a guide that is gone through by keyboard and voice, or skipped, and does not come back."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bounded import wait_for
from integration.desktop_session import START_SECONDS, DesktopSession, desktop_session, settings_file
from virtual_desktop import VirtualDesktop, Window, virtual_desktop

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(600)]

GUIDE = "Welcome to Sayso"
TRIED_SECONDS = 90.0
"""A spoken command to its tick, on a machine that others may use."""


MEASURED_SECONDS = 150.0
"""A model is loaded a second time to be measured."""


@pytest.fixture
def fresh() -> Iterator[VirtualDesktop]:
    """The desktop of somebody who has never started Sayso."""
    with virtual_desktop() as desktop:
        yield desktop


def opened(session: DesktopSession) -> Window:
    guide = session.desktop.wait_for_window(GUIDE, START_SECONDS)
    session.desktop.focus(guide)
    return guide


def key(session: DesktopSession, name: str) -> None:
    session.desktop.xdotool("key", "--clearmodifiers", name)


def kept(session: DesktopSession) -> bool:
    file = settings_file(session.desktop)
    return file.exists() and json.loads(file.read_text())["guided"]


def test_the_guide_is_gone_through_by_keyboard_and_voice_and_does_not_come_back(fresh: VirtualDesktop) -> None:
    assert fresh.sound is not None
    with desktop_session(fresh, guided=False) as session:
        guide = opened(session)
        session.reader.wait_for("label", "Step 1 of 4")
        session.reader.wait_for("label", "In use: ")
        key(session, "Return")
        session.reader.wait_for("label", "Step 2 of 4")
        session.reader.wait_for("label", "In use: On this computer", START_SECONDS)
        key(session, "Return")
        session.reader.wait_for("label", "Step 3 of 4")
        session.reader.wait_for("radio button", "Whisper tiny")
        session.reader.wait_for("label", "On this computer it takes ", MEASURED_SECONDS)
        key(session, "alt+Left")
        session.reader.wait_for("label", "Step 2 of 4")
        key(session, "Return")
        session.reader.wait_for("label", "Step 3 of 4")
        key(session, "Return")
        session.reader.wait_for("label", "Step 4 of 4")
        session.wait_for_headline("Ready")
        fresh.sound.volume = 0.4
        for said, tick in (
            ("what time is it", "what time is it: done: It is "),
            ("volume up", "volume up: done: "),
            ("calculate 12 times 7", "calculate 12 times 7: done: "),
        ):
            session.say(said)
            session.reader.wait_for("", tick, TRIED_SECONDS)
        assert fresh.sound.volume > 0.42
        session.reader.wait_for("label", "That is all.")
        key(session, "Return")
        fresh.wait_until_closed(guide)
        wait_for(lambda: kept(session), "the guide remembered as done")
        assert session.quit() == 0
    with desktop_session(fresh, guided=False) as again:
        again.wait_for_headline("Ready")
        assert [window.title for window in fresh.windows()] == ["Sayso"]


def test_esc_skips_the_guide_for_good_and_the_window_behind_works_all_the_while(fresh: VirtualDesktop) -> None:
    with desktop_session(fresh, guided=False) as session:
        guide = opened(session)
        session.wait_for_headline("Ready")
        session.say("volume up")
        session.wait_for_words("volume up")
        session.desktop.focus(guide)
        key(session, "Escape")
        fresh.wait_until_closed(guide)
        wait_for(lambda: kept(session), "the guide remembered as skipped")
        assert session.process.poll() is None
        session.desktop.focus(session.desktop.wait_for_window("Sayso"))
        key(session, "ctrl+shift+f")
        opened(session)
        session.reader.wait_for("label", "Step 1 of 4")
