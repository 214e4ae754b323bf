"""The settings window of a running Sayso, worked with keys alone: a real server is tried, the microphone is heard."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from integration.desktop_session import DesktopSession, connections, desktop_session, remote_server
from speech import say_to_file
from virtual_desktop import VirtualDesktop

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

ANSWER_SECONDS = 60.0


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    with desktop_session(desktop) as started:
        started.wait_for_headline("Ready")
        yield started


def keys(session: DesktopSession, *chords: str) -> None:
    session.desktop.xdotool("key", "--clearmodifiers", *chords)


def open_page(session: DesktopSession, search: str, title: str) -> None:
    """Open the settings and search for the page, as somebody does who uses no mouse."""
    session.desktop.focus(session.desktop.wait_for_window("Sayso"))
    keys(session, "ctrl+comma")
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    keys(session, "ctrl+f")
    session.desktop.xdotool("type", search)
    session.reader.wait_for("label", title, ANSWER_SECONDS)
    keys(session, "Return")


def close_settings(session: DesktopSession) -> None:
    """The first Esc ends the search."""
    keys(session, "ctrl+f", "Escape", "Escape")
    session.reader.wait_until(lambda: not session.reader.find("text", "Search the settings"), "no settings", 20)


def shown(session: DesktopSession, pattern: str) -> bool:
    return any(re.search(pattern, each.name) for each in session.reader.find("label", ""))


def test_a_server_is_tried_and_told_and_the_embedded_one_stays_in_use(session: DesktopSession) -> None:
    reader = session.reader
    with remote_server(session.desktop) as server:
        open_page(session, "server", "Server")
        session.desktop.focus(session.desktop.wait_for_window("Settings"))
        keys(session, "Right")
        address = reader.wait_for("text", "Address of the server", ANSWER_SECONDS)
        address.write(server.url.removeprefix("ws://").removesuffix("/v1/realtime"))
        reader.wait_for("push button", "Test").press()
        reader.wait_for("label", "It wants a key", ANSWER_SECONDS)
        reader.wait_for("text", "Key of the server").write("a guess")
        reader.wait_for("push button", "Test").press()
        reader.wait_for("label", "The key is wrong", ANSWER_SECONDS)
        reader.wait_for("text", "Key of the server").write(server.key)
        reader.wait_for("push button", "Test").press()
        reader.wait_for("label", "It works", ANSWER_SECONDS)
        reader.wait_until(lambda: shown(session, r"^Sayso \d"), "what server it is", ANSWER_SECONDS)
        assert connections(server) == 0
        assert shown(session, "In use: On this computer")
    close_settings(session)


def test_what_the_microphone_hears_is_played_back_and_transcribed_by_nobody(session: DesktopSession) -> None:
    said = say_to_file("open the calculator")
    open_page(session, "hear", "Microphone")
    button = session.reader.wait_for("push button", "Hear yourself")
    before = len(session.lines)
    button.press()
    session.microphone.speak(said)
    session.reader.wait_until(lambda: shown(session, "dBFS at most|too loud"), "how it was", ANSWER_SECONDS)
    close_settings(session)
    session.say("what time is it")
    session.wait_for_words("what time is it", since=before)
    assert len(session.lines) == before + 1
