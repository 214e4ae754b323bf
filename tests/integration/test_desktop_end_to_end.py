"""The whole chain on real input: spoken into a microphone, read on the screen, and done on the desktop."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jiwer
import played_notebook
import pytest
from bounded import wait_for
from integration.desktop_session import (
    HEARD_SECONDS,
    DesktopSession,
    connections,
    desktop_session,
    remote_server,
    words,
)
from played_notebook import PlayedNotebook, notebook
from speech import say_to_file
from virtual_desktop import VirtualDesktop, VirtualSound

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(240)]

LONG = (
    "type the old garden lies behind the house and every morning the children bring fresh flowers to the market square"
)


@pytest.fixture(scope="module")
def on(desktop: VirtualDesktop) -> Iterator[PlayedNotebook]:
    """A machine with a screen's light and a battery."""
    with notebook(desktop.folder, desktop.environment) as made:
        yield made


@pytest.fixture(scope="module")
def session(desktop: VirtualDesktop, on: PlayedNotebook) -> Iterator[DesktopSession]:
    with desktop_session(desktop, program=(played_notebook.__file__, str(on.folder))) as started:
        started.wait_for_headline("Ready")
        yield started


@pytest.fixture(scope="module", params=["embedded", "remote"])
def listening(request: pytest.FixtureRequest, session: DesktopSession) -> Iterator[DesktopSession]:
    """Sayso with its own engine, and once more with a server elsewhere."""
    if request.param == "embedded":
        yield session
        return
    with remote_server(session.desktop) as server:
        session.use_remote(server.url, server.key)
        session.wait_for_server("Connected to")
        assert connections(server) == 1
        yield session
        session.use_embedded()
        session.wait_for_server("On this computer")


def sound_of(session: DesktopSession) -> VirtualSound:
    assert session.desktop.sound is not None
    return session.desktop.sound


def test_spoken_text_is_typed_into_a_terminal_and_taken_back_from_the_feed(
    listening: DesktopSession,
) -> None:
    lines, actions, desktop = len(listening.lines), len(listening.actions), listening.desktop
    with desktop.terminal() as terminal:
        listening.say("type hello world")
        terminal.wait_for_text("orld", HEARD_SECONDS)
        typed = terminal.text
        assert words(typed) == "hello world"
        listening.wait_for_words("type hello world", since=lines)
        listening.wait_for_action("Type text", since=actions)
        if listening.reader.find("label", "Connected to"):
            listening.click("push button", "Undo: Type text")
        else:
            desktop.focus(desktop.wait_for_window("Sayso"))
            desktop.xdotool("key", "--clearmodifiers", "ctrl+z")
        listening.wait_for_action("Type text", "undone", since=actions)
        # A backspace for each character, and the keyboard is back where button or key was pressed.
        wait_for(lambda: len(terminal.text) == 2 * len(typed), "the backspaces")
        assert len(set(terminal.text[len(typed) :])) == 1
        wait_for(lambda: desktop.active_window() == desktop.wait_for_window("Sayso"), "Sayso to have the keyboard")


def test_a_window_is_closed_by_voice(listening: DesktopSession) -> None:
    actions = len(listening.actions)
    with listening.desktop.terminal("to be closed") as terminal:
        listening.say("close window")
        listening.desktop.wait_until_closed(terminal.window, HEARD_SECONDS)
    listening.wait_for_action("Close the window in front", since=actions)


def test_the_volume_is_turned_up_by_voice_and_back_by_undo(listening: DesktopSession) -> None:
    sound, actions = sound_of(listening), len(listening.actions)
    sound.volume = 0.4
    listening.say("volume up")
    listening.reader.wait_until(lambda: sound.volume > 0.42, "a louder speaker", HEARD_SECONDS)
    listening.wait_for_action("Turn the volume up", since=actions)
    listening.reader.find("push button", "Undo: Turn the volume up")[0].press()
    listening.reader.wait_until(lambda: abs(sound.volume - 0.4) < 0.01, "the volume of before")
    listening.wait_for_action("Turn the volume up", "undone", since=actions)


def test_the_light_of_the_screen_is_changed_by_voice_and_back_by_undo(
    session: DesktopSession, on: PlayedNotebook
) -> None:
    actions = len(session.actions)
    for sentence, title, percent in (
        ("brightness up", "Turn the brightness up", 50),
        ("set the brightness to forty percent", "Set the brightness to 40 percent", 40),
        ("full brightness", "Set the brightness to 100 percent", 100),
    ):
        before = on.percent
        session.say(sentence)
        session.wait_for_action(f"{title}", f"done. {percent} percent, was {before} percent", since=actions)
        assert on.percent == percent
    session.reader.find("push button", "Undo: Set the brightness to 100 percent")[0].press()
    session.reader.wait_until(lambda: on.percent == 40, "the light of before")
    session.wait_for_action("Set the brightness to 100 percent", "undone. 40 percent again", since=actions)


def test_the_charge_of_the_battery_is_told(session: DesktopSession, on: PlayedNotebook) -> None:
    actions = len(session.actions)
    on.machine.plug(False)
    session.say("what is the battery level")
    session.wait_for_action("Tell the charge of the battery", "done. 83 percent, discharging", since=actions)
    on.machine.plug(True)
    on.charge(84)
    session.say("battery level")
    session.wait_for_action("Tell the charge of the battery", "done. 84 percent, charging", since=actions + 1)


def test_no_word_is_lost_when_the_server_is_switched_in_mid_utterance(session: DesktopSession) -> None:
    with remote_server(session.desktop) as server, session.desktop.terminal() as terminal:
        _say_and_switch(session, lambda: session.use_remote(server.url, server.key))
        terminal.wait_for_text("square", HEARD_SECONDS)
        session.wait_for_server("Connected to")
        assert words_wrong(LONG.removeprefix("type "), terminal.text) <= 1
        assert session.process.poll() is None
        session.desktop.focus(terminal.window)
        typed = len(terminal.text)
        _say_and_switch(session, session.use_embedded)
        session.reader.wait_until(lambda: "square" in terminal.text[typed:], "the words again", HEARD_SECONDS)
        session.wait_for_server("On this computer")
        assert words_wrong(LONG.removeprefix("type "), terminal.text[typed:]) <= 1


def _say_and_switch(session: DesktopSession, switch: Callable[[], None]) -> None:
    """Speak the long sentence and switch when some of its words are on the screen and most are still to be said."""
    before = len(session.lines)
    with session.microphone.speaking(say_to_file(LONG)) as voice:
        session.wait_for_words("garden", since=before)
        assert voice.poll() is None, "the sentence was over before its first words were shown"
        switch()
        assert voice.wait(30) == 0


def words_wrong(expected: str, heard: str) -> int:
    """Words that are missing, added or other."""
    compared = jiwer.process_words(words(expected), words(heard))
    return compared.substitutions + compared.deletions + compared.insertions
