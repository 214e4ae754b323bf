"""The ways to listen as their user has them: real keys, a real microphone, and another program that has the focus.

One Sayso goes through all of them, in this order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bounded import wait_for
from integration.desktop_session import START_SECONDS, DesktopSession, desktop_session, words
from virtual_desktop import VirtualDesktop, Window

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

TALK = ("ctrl", "alt", "space")
_HEARD_S = 60.0
"""From the end of speech until its effect must be there, on a machine that others use as well."""


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop) -> Iterator[DesktopSession]:
    folder = desktop.folder / "home" / ".config" / "sayso"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"way": "hold"}))
    with desktop_session(desktop) as started:
        started.wait_for_headline("Hold Ctrl+Alt+Space and speak.")
        yield started


def hold(session: DesktopSession, *keys: str) -> None:
    for key in keys:
        session.desktop.xdotool("keydown", key)


def let_go(session: DesktopSession, *keys: str) -> None:
    for key in reversed(keys):
        session.desktop.xdotool("keyup", key)


def overlays(session: DesktopSession) -> list[Window]:
    """The overlay's window, if it is on the screen."""
    return [each for each in session.desktop.windows() if each.title.startswith("What is heard")]


def open_listening_page(session: DesktopSession) -> None:
    """Turn to the page *Listening* of the settings, by keyboard."""
    desktop = session.desktop
    desktop.focus(next(each for each in desktop.windows() if each.title == "Sayso"))
    desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
    desktop.focus(desktop.wait_for_window("Settings"))
    desktop.xdotool("key", "ctrl+f", "type", "push-to-talk")
    desktop.xdotool("key", "Return")
    session.reader.wait_for("radio button", "Hold to talk")


def click(session: DesktopSession, role: str, name: str) -> None:
    """Click on something of the settings with the mouse."""
    desktop = session.desktop
    desktop.focus(desktop.wait_for_window("Settings"))
    desktop.xdotool("mousemove", *session.reader.wait_for(role, name).centre, "click", 1)


def test_what_is_said_while_the_key_is_held_goes_where_the_focus_is_and_nothing_else(session: DesktopSession) -> None:
    desktop = session.desktop
    with desktop.terminal() as terminal:
        session.say("type this is not for you")
        hold(session, *TALK)
        session.wait_for_headline("Hearing you")
        wait_for(lambda: overlays(session), "the overlay", 20)
        active = desktop.active_window()
        assert active is not None
        assert active.id == terminal.window.id
        session.say("type hello world")
        let_go(session, *TALK)
        terminal.wait_for_text("orld", _HEARD_S)
        desktop.xdotool("type", "!")
        terminal.wait_for_text("!")
        assert words(terminal.text) == "hello world"
        wait_for(lambda: not overlays(session), "the overlay gone", _HEARD_S)
    session.wait_for_action("Type text", seconds=_HEARD_S)
    assert len(session.lines) == 1


def test_a_closed_microphone_is_opened_for_the_key_and_closed_again(session: DesktopSession) -> None:
    session.reader.wait_for("push button", "Stop listening").press()
    session.wait_for_headline("Not listening")
    hold(session, *TALK)
    session.wait_for_headline("Hearing you")
    session.say("volume up")
    let_go(session, *TALK)
    session.wait_for_headline("Not listening")
    session.wait_for_action("Turn the volume up", seconds=_HEARD_S)


def test_a_key_is_chosen_by_pressing_it_works_at_once_and_esc_drops_what_is_said(session: DesktopSession) -> None:
    desktop = session.desktop
    open_listening_page(session)
    key = session.reader.wait_for("push button", "Key to hold")
    key.press()
    session.reader.wait_until(lambda: "Escape cancels" in key.description, "the field waiting for a key")
    desktop.xdotool("key", "ctrl+shift+F8")
    session.reader.wait_until(lambda: key.description.startswith("Ctrl+Shift+F8"), "the key chosen")
    session.wait_for_headline("Hold Ctrl+Shift+F8 and speak, or press Start.")
    lines = len(session.lines)
    with desktop.terminal():
        hold(session, "ctrl", "shift", "F8")
        session.wait_for_headline("Hearing you")
        session.say("volume down")
        desktop.xdotool("key", "Escape")
        let_go(session, "ctrl", "shift", "F8")
        session.wait_for_headline("Not listening")
    assert len(session.lines) == lines


def test_a_key_starts_and_stops(session: DesktopSession) -> None:
    click(session, "radio button", "Press to start, press to stop")
    session.wait_for_headline("Press Ctrl+Alt+Space and speak, or press Start.")
    with session.desktop.terminal():
        session.desktop.xdotool("key", "ctrl+alt+space")
        session.wait_for_headline("Ready")
        session.desktop.xdotool("key", "ctrl+alt+space")
        session.wait_for_headline("Not listening")


def test_where_the_wake_phrase_is_asked_for_only_what_follows_it_acts(session: DesktopSession) -> None:
    click(session, "radio button", "Hands-free")
    click(session, "check box", "Act only after the wake phrase")
    session.wait_for_headline("Say “hey sayso” and then what to do.", START_SECONDS)
    actions, lines = len(session.actions), len(session.lines)
    session.say("mute the sound")
    session.wait_for_words("mute the sound", since=lines, seconds=_HEARD_S)
    session.wait_until_heard()
    session.say("hey sayso, volume up")
    session.wait_for_action("Turn the volume up", since=actions, seconds=_HEARD_S)
    session.say("volume down")
    session.wait_for_action("Turn the volume down", since=actions, seconds=_HEARD_S)
    assert len(session.actions) == actions + 2
