"""What the sound system can do to Sayso, on the real app: a microphone that is taken, a server that hangs, lost sound.

What goes wrong is told in the window, speech afterwards is heard, and what could not be heard is shown with its length.
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from bounded import wait_for
from integration.desktop_session import DesktopSession, desktop_session
from speech import say_to_file
from virtual_desktop import VirtualDesktop
from virtual_sound import VirtualSound

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(360)]

SAID = "every morning the children bring fresh flowers to the market square"
AFTERWARDS = "the keys are under the mat"
MIDDLE_S = 1.7
"""From the start of the sentence, which takes twice as long."""
TOLD_SECONDS = 120.0


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    with desktop_session(desktop) as started:
        started.wait_for_headline("Ready")
        yield started


@pytest.fixture
def sound(session: DesktopSession) -> VirtualSound:
    assert session.desktop.sound is not None
    return session.desktop.sound


def heard_afterwards(session: DesktopSession) -> None:
    before = len(session.lines)
    session.wait_for_headline("Ready", TOLD_SECONDS)
    session.say(AFTERWARDS)
    session.wait_for_words("under the mat", since=before, seconds=TOLD_SECONDS)


def test_a_microphone_that_another_program_has_is_named_and_heard_again_when_it_is_free(
    session: DesktopSession, sound: VirtualSound
) -> None:
    with sound.taken(session.microphone):
        session.wait_for_headline("Microphone blocked", TOLD_SECONDS)
        session.wait_for_headline("another program may have taken it", TOLD_SECONDS)
    heard_afterwards(session)


def test_a_sound_server_that_hangs_is_told_and_the_window_goes_on(session: DesktopSession, sound: VirtualSound) -> None:
    with sound.hanging():
        session.wait_for_headline("Microphone blocked", TOLD_SECONDS)
        session.click("radio button", "Mode: Dictation")
        session.click("radio button", "Mode: Commands")
    heard_afterwards(session)


def test_what_a_computer_was_too_slow_to_hear_is_shown_with_its_length(session: DesktopSession) -> None:
    session.wait_until_heard()
    before = len(session.lines)
    with session.microphone.speaking(say_to_file(SAID)) as voice:
        with pytest.raises(subprocess.TimeoutExpired):
            voice.wait(MIDDLE_S)
        stopped_s = time.monotonic()
        session.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(60)
        finally:
            session.process.send_signal(signal.SIGCONT)
        stopped_s = time.monotonic() - stopped_s
    wait_for(lambda: lost_seconds(session.lines[before:]), "the length of what was lost", TOLD_SECONDS)
    assert sum(lost_seconds(session.lines[before:])) == pytest.approx(stopped_s, abs=5)
    heard_afterwards(session)


def lost_seconds(lines: list[str]) -> list[float]:
    """The lengths that lines tell of."""
    found = [re.search(r"(?:(\d+) min )?([\d.]+) s of speech lost", line) for line in lines]
    return [60 * float(each.group(1) or 0) + float(each.group(2)) for each in found if each is not None]
