"""Own commands, questions, the transcript and the history as their user has them: by keyboard, voice and screen."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.desktop_session import DesktopSession, Element, desktop_session, words
from virtual_desktop import VirtualDesktop

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

PATIENT_SECONDS = 60.0
"""From the end of speech until its effect must be there, on a machine that others may use."""
PHRASE = "lights in the garden"
TEXT = "the lamps are lit"


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    with desktop_session(desktop) as started:
        started.wait_for_headline("Ready")
        yield started


def keys(session: DesktopSession, window: str, *pressed: str) -> None:
    """Press keys in the window with this title."""
    session.desktop.focus(session.desktop.wait_for_window(window))
    for each in pressed:
        session.desktop.xdotool("key", "--clearmodifiers", each)


def write(session: DesktopSession, text: str) -> None:
    session.desktop.xdotool("type", "--delay", "20", text)


def test_a_command_is_added_by_keyboard_then_spoken_and_done(session: DesktopSession) -> None:
    keys(session, "Sayso", "ctrl+comma")
    keys(session, "Settings", "ctrl+f")
    write(session, "add your own")
    session.reader.wait_for("list item", "Commands")
    keys(session, "Settings", "Return", "space")
    session.desktop.focus(session.desktop.wait_for_window("Your own command"))
    write(session, "volume up")
    session.reader.wait_for("label", "This does something already")
    keys(session, "Your own command", "ctrl+a")
    write(session, PHRASE)
    # From the phrase to what is done, where the second of the list is text, and on to the text.
    keys(session, "Your own command", "Tab", "Down", "Tab")
    write(session, TEXT)
    keys(session, "Your own command", "Return")
    session.reader.wait_for("tree item", PHRASE)
    keys(session, "Settings", "Escape")
    with session.desktop.terminal() as terminal:
        session.say(PHRASE)
        terminal.wait_for_text(TEXT, PATIENT_SECONDS)
    session.wait_for_action(f"Type the text of “{PHRASE}”", seconds=PATIENT_SECONDS)


def test_a_question_is_answered_with_a_key(session: DesktopSession) -> None:
    since = len(session.actions)
    session.say("suspend the computer")
    session.wait_for_action("Suspend the computer", "waiting for your yes", since, PATIENT_SECONDS)
    session.reader.wait_for("push button", "Do it: Suspend the computer")
    keys(session, "Sayso", "ctrl+n")
    session.wait_for_action("Suspend the computer", "not done", since=since)


def test_words_of_the_transcript_are_typed_again_into_the_window_used_before(session: DesktopSession) -> None:
    lines = len(session.lines)
    session.say("the old garden lies behind the house")
    session.wait_for_words("garden", lines, PATIENT_SECONDS)
    session.reader.wait_until(lambda: "no command" in session.lines[-1], "the end of the utterance", PATIENT_SECONDS)
    spoken = words(session.lines[-1].partition("   ")[0])
    with session.desktop.terminal() as terminal:
        keys(session, "Sayso", "ctrl+i")
        session.reader.wait_until(
            lambda: words(terminal.text) == spoken, f"{spoken!r} in the terminal", PATIENT_SECONDS
        )
    session.wait_for_action("Type the words again")


def test_what_is_said_is_kept_once_chosen_found_and_deleted_for_good(session: DesktopSession) -> None:
    file = Path(session.desktop.environment["XDG_DATA_HOME"]) / "sayso" / "history" / "history.sqlite3"
    assert not file.exists()
    keys(session, "Sayso", "ctrl+h")
    session.reader.wait_for("label", "Nothing is kept")
    keys(session, "History", "alt+k", "Down", "Down", "Down")
    session.reader.wait_for("label", "Nothing yet")
    session.say("the children bring fresh flowers")
    session.reader.wait_for("cell", "lowers", PATIENT_SECONDS)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    keys(session, "History", "ctrl+f")
    write(session, "FLOW")
    session.reader.wait_for("label", "1 of ")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as kept:
        (text, kind, length) = kept.execute("SELECT text, kind, duration_s FROM utterances").fetchone()
    kept.close()
    assert "flowers" in words(text)
    assert kind == "plain"
    assert 0.5 < length < 10
    session.reader.wait_for("push button", "Delete all…").press()
    session.reader.wait_until(lambda: button(session, "Delete all"), "the question")
    button(session, "Delete all")[0].press()
    session.reader.wait_for("label", "No utterance has")
    assert b"flowers" not in file.read_bytes()
    keys(session, "History", "Escape")


def button(session: DesktopSession, name: str) -> list[Element]:
    return [each for each in session.reader.find("push button", name) if each.name == name]
