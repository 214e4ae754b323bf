"""What a machine can do to Sayso, on the real app: microphone, engine, disk and display fail in mid-work.

Speech before, during and after is transcribed, and the window tells what is the matter. Faults of the network are in
test_desktop_network_faults.py.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from bounded import wait_for
from integration.desktop_session import DesktopSession, all_ended, desktop_session, settings_file
from speech import say_to_file
from virtual_desktop import VirtualDesktop, virtual_desktop
from virtual_sound import VirtualSound

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(360)]

SAID = "every morning the children bring fresh flowers to the market square"
AFTERWARDS = "the keys are under the mat"
MIDDLE_S = 1.7
"""From the start of the sentence, which takes twice as long."""
STOPPED_S = 5.0
TOLD_SECONDS = 120.0
"""Until the window tells of a fault, or has the words that waited for its end."""


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    settings_file(desktop).parent.mkdir(parents=True)
    settings_file(desktop).write_text('{"guided": true, "of_tomorrow": {"deep": [1, 2]}}')
    with desktop_session(desktop) as started:
        started.wait_for_headline("Ready")
        yield started


@contextlib.contextmanager
def in_mid_sentence(session: DesktopSession) -> Iterator[subprocess.Popen[bytes]]:
    """The block runs when part of the sentence is said, by the clock: an engine may be slow."""
    session.wait_until_heard()
    with session.microphone.speaking(say_to_file(SAID)) as voice:
        with pytest.raises(subprocess.TimeoutExpired):
            voice.wait(MIDDLE_S)
        yield voice


def sound_of(session: DesktopSession) -> VirtualSound:
    assert session.desktop.sound is not None
    return session.desktop.sound


def test_an_engine_killed_in_mid_sentence_costs_no_word(session: DesktopSession) -> None:
    before = len(session.lines)
    engine = next(each for each in session.family if "sayso.engine" in " ".join(each.cmdline()))
    with in_mid_sentence(session) as voice:
        engine.kill()
        assert voice.wait(30) == 0
    session.wait_for_words("to the market square", since=before, seconds=TOLD_SECONDS)
    session.wait_for_words("every morning", since=before)
    session.wait_for_server("On this computer, model tiny.en", TOLD_SECONDS)
    assert not any("lost" in line for line in session.lines[before:])
    all_ended([engine])


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """A disk that is full, over this folder."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=False).returncode == 0
    if not mounted:
        pytest.skip("only root may mount a small disk")
    try:
        with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextlib.contextmanager
def taken_away(folder: Path) -> Iterator[None]:
    """No folder any more, and a file in its place."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.write_text("in the way")
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


@pytest.mark.parametrize("trouble", [full, taken_away])
def test_settings_that_cannot_be_kept_are_told_and_sayso_goes_on(
    session: DesktopSession, trouble: Callable[[Path], contextlib.AbstractContextManager[None]]
) -> None:
    file = settings_file(session.desktop)
    before = len(session.lines)
    with trouble(file.parent):
        session.click("radio button", "Mode: Dictation")
        session.wait_for_server("What you changed counts until Sayso ends", TOLD_SECONDS)
        session.say("the keys are under the mat")
        session.wait_for_words("under the mat", since=before, seconds=TOLD_SECONDS)
        session.reader.wait_for("push button", "Dismiss: ").press()
    session.click("radio button", "Mode: Commands")
    session.click("radio button", "Mode: Dictation")
    wait_for(lambda: json.loads(file.read_bytes()).get("mode") == "dictation", "the mode kept", TOLD_SECONDS)
    assert json.loads(file.read_bytes())["of_tomorrow"] == {"deep": [1, 2]}, "what a newer version wrote is gone"
    session.click("radio button", "Mode: Commands")
    wait_for(lambda: json.loads(file.read_bytes()).get("mode") == "commands", "the mode kept", TOLD_SECONDS)


def heard_afterwards(session: DesktopSession) -> None:
    session.wait_for_headline("Ready", TOLD_SECONDS)
    before = len(session.lines)
    session.say(AFTERWARDS)
    session.wait_for_words("under the mat", since=before, seconds=TOLD_SECONDS)
    session.wait_until_heard()


def test_a_microphone_that_another_program_has_is_named_and_heard_again_when_it_is_free(
    session: DesktopSession,
) -> None:
    with sound_of(session).taken(session.microphone):
        session.wait_for_headline("Microphone blocked", TOLD_SECONDS)
        session.wait_for_headline("another program may have taken it", TOLD_SECONDS)
    heard_afterwards(session)


@pytest.mark.soak
def test_a_sound_server_that_hangs_is_told_and_the_window_goes_on(session: DesktopSession) -> None:
    with sound_of(session).hanging():
        session.wait_for_headline("Microphone blocked", TOLD_SECONDS)
        session.click("radio button", "Mode: Dictation")
        session.click("radio button", "Mode: Commands")
    heard_afterwards(session)


@pytest.mark.soak
def test_what_a_computer_was_too_slow_to_hear_is_shown_with_its_length(
    session: DesktopSession,
) -> None:
    # What the sound server keeps for a program that does not read is 4 MB, which is little over a second of this one.
    first, session.microphone = session.microphone, sound_of(session).plug_microphone("array", rate=96000, channels=8)
    with session.microphone.room_noise():
        sound_of(session).wait_until_heard(session.microphone)
        session.wait_for_headline("Ready", TOLD_SECONDS)
        before = len(session.lines)
        with in_mid_sentence(session), stopped(session) as seconds:
            pass
        wait_for(lambda: lost_seconds(session.lines[before:]), "the length of what was lost", TOLD_SECONDS)
        assert 1 < sum(lost_seconds(session.lines[before:])) < seconds() + 1
        session.wait_for_words("every morning", since=before, seconds=TOLD_SECONDS)
        heard_afterwards(session)
    sound_of(session).unplug(session.microphone)
    session.microphone = first


@contextlib.contextmanager
def stopped(session: DesktopSession) -> Iterator[Callable[[], float]]:
    """The desktop's process stands still for some seconds, as under a load that leaves it no time; how long it was."""
    began = ended = time.monotonic()
    session.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            session.process.wait(STOPPED_S)
        yield lambda: ended - began
    finally:
        session.process.send_signal(signal.SIGCONT)
        ended = time.monotonic()


def lost_seconds(lines: list[str]) -> list[float]:
    """The lengths that lines tell of."""
    found = [re.search(r"(?:(\d+) min )?([\d.]+) s (?:of speech lost|not heard)", line) for line in lines]
    return [60 * float(each.group(1) or 0) + float(each.group(2)) for each in found if each is not None]


def test_words_before_and_after_a_microphone_was_away_are_heard_and_its_loss_and_its_silence_are_told(
    session: DesktopSession,
) -> None:
    before = len(session.lines)
    with in_mid_sentence(session):
        sound_of(session).unplug(session.microphone)
        session.wait_for_headline("No microphone", TOLD_SECONDS)
    session.wait_for_words("every morning", since=before, seconds=TOLD_SECONDS)
    # As a Bluetooth headset comes back in its other profile: the same name, another rate, at first only zeros.
    session.microphone = sound_of(session).plug_microphone(rate=16000)
    session.wait_for_headline("No signal", TOLD_SECONDS)
    wait_for(lambda: lost_seconds(session.lines[before:]), "the length of what was not heard", TOLD_SECONDS)
    with session.microphone.room_noise():
        session.wait_for_headline("Ready", TOLD_SECONDS)
        session.say("open the pod bay doors")
        session.wait_for_words("the pod bay", since=before, seconds=TOLD_SECONDS)
    sound_of(session).unplug(session.microphone)
    assert session.process.poll() is None
    assert "Traceback" not in session.log.read_text()


def test_a_default_that_changes_in_mid_sentence_ends_it_there_and_the_other_microphone_is_heard(
    session: DesktopSession,
) -> None:
    before = len(session.lines)
    first = session.microphone = sound_of(session).plug_microphone()
    sound_of(session).wait_until_heard(first)
    with first.room_noise():
        session.wait_for_headline("Ready", TOLD_SECONDS)
    with in_mid_sentence(session):
        session.microphone = sound_of(session).plug_microphone("another")
        session.wait_for_words("every morning", since=before, seconds=TOLD_SECONDS)
    sound_of(session).wait_until_heard(session.microphone)
    with session.microphone.room_noise():
        session.wait_for_headline("Ready", TOLD_SECONDS)
        session.say("open the pod bay doors")
        session.wait_for_words("the pod bay", since=before, seconds=TOLD_SECONDS)
    for each in (session.microphone, first):
        sound_of(session).unplug(each)


def test_without_its_display_all_of_it_ends() -> None:
    with virtual_desktop() as desktop, desktop_session(desktop) as session:
        session.wait_for_headline("Ready")
        family = [psutil.Process(session.process.pid), *session.family]
        assert len(family) >= 3, "a server and an engine"
        displays = [each for each in psutil.Process().children() if each.name() == "Xvfb"]
        max(displays, key=psutil.Process.create_time).kill()
        session.process.wait(60)
        all_ended(family, 60)
