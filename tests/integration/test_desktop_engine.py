"""The page Engine on the real app: another model in mid-sentence, one that cannot be loaded, a folder of one's own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_causal
from bounded import wait_for
from integration.desktop_session import START_SECONDS, DesktopSession, desktop_session, settings_file
from integration.test_desktop_end_to_end import LONG, words_wrong
from played_hub import played_hub
from screen_reader import Element
from speech import say_to_file
from virtual_desktop import virtual_desktop

from sayso.engine.packaged import find_packaged

pytestmark = [pytest.mark.desktop, pytest.mark.engine, pytest.mark.timeout(600)]

PATIENT_SECONDS = 150.0
"""Two engines at once share the machine while one is being changed for another."""

DAMAGED = "someone's weights that are none " * 100


@pytest.fixture(scope="module")
def session() -> Iterator[DesktopSession]:
    """Sayso with a hub on this machine, whose base.en is damaged, and with the page opened."""
    files = {"model.bin": DAMAGED.encode(), "config.json": b"{}", "tokenizer.json": b"{}"}
    with virtual_desktop() as desktop, played_hub({"Systran/faster-whisper-base.en": files}) as hub:
        desktop.environment.update({"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_TELEMETRY": "1"})
        with desktop_session(desktop) as started:
            started.wait_for_headline("Ready")
            desktop.focus(desktop.wait_for_window("Sayso"))
            desktop.xdotool("key", "--clearmodifiers", "ctrl+comma")
            desktop.focus(desktop.wait_for_window("Settings"))
            desktop.xdotool("mousemove", *started.reader.wait_for("list item", "Engine").centre, "click", 1)
            started.reader.wait_for("label", "tiny.en on the processor", START_SECONDS)
            listed(started, "base.en")
            yield started


def listed(session: DesktopSession, model: str) -> Element:
    """The model in the list of the page."""
    return session.reader.wait_for("tree item", model, START_SECONDS)


def chosen(session: DesktopSession) -> str:
    file = settings_file(session.desktop)
    return str(json.loads(file.read_text()).get("model", "auto"))


def choose(session: DesktopSession, keys: str) -> None:
    """Type into the list of models that are here, as its user would."""
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    session.desktop.xdotool("key", "--clearmodifiers", "alt+o")
    session.desktop.xdotool("key", "--clearmodifiers", keys)


def test_no_word_is_lost_when_the_model_is_changed_in_mid_sentence(session: DesktopSession) -> None:
    before, lines = {each.pid for each in session.family}, len(session.lines)
    with session.microphone.speaking(say_to_file(LONG)) as voice:
        session.wait_for_words("garden", since=lines, seconds=PATIENT_SECONDS)
        choose(session, "End")
        assert voice.wait(30) == 0
    session.wait_for_words("square", since=lines, seconds=PATIENT_SECONDS)
    wait_for(lambda: chosen(session) == "tiny.en", "the model kept", PATIENT_SECONDS)
    session.reader.wait_until(
        lambda: not before & {each.pid for each in session.family}, "the end of the old server", PATIENT_SECONDS
    )
    heard = " ".join(session.lines[lines:])
    assert words_wrong(LONG, heard) <= 2
    session.say("it is a new engine")
    session.wait_for_words("new engine", seconds=PATIENT_SECONDS)


def test_a_model_that_cannot_be_loaded_is_told_and_the_one_of_before_goes_on(session: DesktopSession) -> None:
    was = chosen(session)
    session.desktop.focus(session.desktop.wait_for_window("Settings"))
    session.desktop.xdotool("mousemove", *listed(session, "base.en").centre, "click", 1)
    session.reader.wait_for("push button", "Download base.en").press()
    session.reader.wait_until(
        lambda: session.reader.find("list item", "base.en, English", showing=False),
        "the model fetched",
        PATIENT_SECONDS,
    )
    family = {each.pid for each in session.family}
    choose(session, "End")
    session.reader.wait_for("label", "The engine of before goes on.", PATIENT_SECONDS)
    assert chosen(session) == was
    wait_for(lambda: {each.pid for each in session.family} == family, "the end of the new server", PATIENT_SECONDS)
    session.say("it goes on as before")
    session.wait_for_words("goes on as before", seconds=PATIENT_SECONDS)


def test_a_folder_of_ones_own_is_refused_or_added_used_and_taken_off_the_list(session: DesktopSession) -> None:
    desktop, models = session.desktop, session.desktop.folder / "models"
    desktop.focus(desktop.wait_for_window("Settings"))
    add_folder(session, tiny_causal.build(models / "writes"))
    session.reader.wait_for("label", "continues text and cannot hear", PATIENT_SECONDS)
    packaged = find_packaged("tiny.en")
    assert packaged is not None
    assert packaged.folder is not None
    shutil.copytree(packaged.folder, models / "my own")
    add_folder(session, models / "my own")
    session.reader.wait_for("tree item", "my own", PATIENT_SECONDS)
    choose(session, "End")
    wait_for(lambda: chosen(session) == str(models / "my own"), "the folder kept", PATIENT_SECONDS)
    session.reader.wait_for("label", "my own on the processor", PATIENT_SECONDS)
    session.say("this is my own model")
    session.wait_for_words("my own model", seconds=PATIENT_SECONDS)
    # Its files stay where they are when it leaves the list.
    choose(session, "t")
    wait_for(lambda: chosen(session) == "tiny.en", "the usual model", PATIENT_SECONDS)
    session.reader.wait_for("label", "tiny.en on the processor", PATIENT_SECONDS)
    session.reader.wait_for("push button", "Remove my own from the list", PATIENT_SECONDS).press()
    wait_for(lambda: not session.reader.find("tree item", "my own"), "the shorter list", PATIENT_SECONDS)
    assert (models / "my own" / "model.bin").is_file()


def add_folder(session: DesktopSession, folder: Path) -> None:
    """Type its path into the field of the page, in the place of what stands there, and press Enter."""
    session.desktop.xdotool("key", "--clearmodifiers", "alt+f")
    session.desktop.xdotool("key", "--clearmodifiers", "ctrl+a")
    session.desktop.xdotool("type", "--delay", "10", str(folder))
    session.desktop.xdotool("key", "Return")
