"""Sayso starts with what it finds, says what is missing, and leaves nothing behind when it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from bounded import wait_for
from integration.desktop_session import START_SECONDS, DesktopSession, all_ended, desktop_session
from speech import say_to_file
from virtual_desktop import VirtualDesktop, virtual_desktop
from virtual_sound import SPEAKER

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]


@pytest.fixture
def session() -> Iterator[DesktopSession]:
    with virtual_desktop() as desktop, desktop_session(desktop) as started:
        yield started


def started_family(session: DesktopSession) -> list[int]:
    """The processes of Sayso's server and engine, as soon as both are there."""
    session.wait_for_headline("Ready")
    wait_for(lambda: len(session.family) >= 2, "a server and an engine")
    return [each.pid for each in session.family]


def test_closing_the_window_ends_server_and_engine_too(session: DesktopSession) -> None:
    started_family(session)
    family = session.family
    assert session.quit() == 0
    all_ended(family)
    assert "Traceback" not in session.log.read_text()


def test_a_killed_desktop_leaves_no_server_and_no_engine(session: DesktopSession) -> None:
    started_family(session)
    family = session.family
    session.process.kill()
    session.process.wait(10)
    all_ended(family)


def test_a_terminated_desktop_ends_as_if_it_were_closed(session: DesktopSession) -> None:
    started_family(session)
    family = session.family
    session.process.terminate()
    assert session.process.wait(20) == 0
    all_ended(family)


def test_only_zeros_are_reported_as_no_signal() -> None:
    with virtual_desktop() as desktop, desktop_session(desktop, room_noise=False) as started:
        started.wait_for_headline("No signal")
        with started.microphone.room_noise():
            started.wait_for_headline("Ready")


def test_a_microphone_that_is_unplugged_and_plugged_in_again_is_used_again() -> None:
    with virtual_desktop() as desktop, desktop_session(desktop, room_noise=False) as session:
        assert desktop.sound is not None
        with session.microphone.room_noise():
            session.wait_for_headline("Ready")
        desktop.sound.unplug(session.microphone)
        session.wait_for_headline("No microphone")
        # PulseAudio hands a program whose microphone is gone what the speaker plays; that is no voice.
        speaker = ["paplay", "--device", SPEAKER, say_to_file("volume up")]
        subprocess.run(speaker, env=desktop.environment, timeout=30, check=True)
        session.microphone = desktop.sound.plug_microphone("another")
        with session.microphone.room_noise():
            session.wait_for_headline("Ready")
            session.say("open the pod bay doors")
            session.wait_for_words("the pod bay")
        assert len(session.lines) == 1
        assert session.actions == []
        desktop.sound.unplug(session.microphone)


def sayso(session: DesktopSession, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sayso.app.cli.main", *arguments]
    return subprocess.run(
        command, env=session.desktop.environment, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )


def test_a_second_start_shows_the_window_of_the_first_and_ends(session: DesktopSession) -> None:
    session.wait_for_headline("Ready")
    window = session.desktop.wait_for_window("Sayso")
    session.desktop.xdotool("windowminimize", "--sync", window.id)
    second = sayso(session)
    assert (second.returncode, second.stderr) == (0, "")
    wait_for(lambda: session.desktop.xdotool("search", "--onlyvisible", "--name", "^Sayso$"), "the window shown again")
    assert [each.title for each in session.desktop.windows()] == ["Sayso"]
    assert session.process.poll() is None


def test_commands_work_the_running_one_and_fail_when_none_runs(session: DesktopSession) -> None:
    session.wait_for_headline("Ready")
    for command, headline in (("stop", "Not listening"), ("start", "Ready"), ("toggle", "Not listening")):
        assert sayso(session, command).returncode == 0
        session.wait_for_headline(headline)
    assert sayso(session, "quit").returncode == 0
    assert session.process.wait(20) == 0
    after = sayso(session, "toggle")
    assert (after.returncode, after.stderr) == (1, "Error: Sayso is not running. Start it with “sayso”.\n")


def test_a_microphone_is_chosen_in_the_settings_and_heard_at_once(session: DesktopSession) -> None:
    session.wait_for_headline("Ready")
    assert session.desktop.sound is not None
    other = session.desktop.sound.plug_microphone("another")
    session.desktop.focus(session.desktop.wait_for_window("Sayso"))
    session.desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    session.reader.wait_for("label", "In use: ")
    session.desktop.xdotool("key", "--clearmodifiers", "alt+m")
    session.desktop.xdotool("key", "End")
    settings = session.desktop.folder / "home" / ".config" / "sayso" / "settings.json"
    wait_for(lambda: settings.exists() and json.loads(settings.read_text())["microphone"], "the microphone kept")
    with other.room_noise():
        # It is “Ready” with the one before until the other is opened.
        session.reader.wait_for("label", "In use: another")
        session.desktop.sound.wait_until_heard(other)
        session.wait_for_headline("Ready")
        session.microphone = other
        session.say("volume up")
        session.wait_for_words("volume up")
    session.desktop.sound.unplug(other)


def test_without_a_display_it_ends_and_says_what_to_do() -> None:
    with virtual_desktop(sound=False, window_manager=False) as desktop:
        environment = {name: value for name, value in desktop.environment.items() if name != "DISPLAY"}
        command = [sys.executable, "-m", "sayso.app"]
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=START_SECONDS, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("sayso: ")
    assert len(ended.stderr.splitlines()) == 1


def test_two_programs_at_once_do_not_hinder_each_other(session: DesktopSession) -> None:
    with virtual_desktop() as other_desktop, desktop_session(other_desktop) as other:
        for each in (session, other):
            each.wait_for_headline("Ready")
        other.say("this is the second one")
        other.wait_for_words("second one")
        assert session.lines == []


def test_the_virtual_desktop_is_the_only_one(session: DesktopSession) -> None:
    desktop: VirtualDesktop = session.desktop
    # The window manager's list is empty for a moment whenever it is written anew.
    wait_for(lambda: [window.title for window in desktop.windows()] == ["Sayso"], "one window and no other", 20)
