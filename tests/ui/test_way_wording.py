"""What the state line says to do, in each way to listen."""

from __future__ import annotations

from dataclasses import replace

import pytest
import scenes

from sayso.app.snapshot import Mode, Snapshot
from sayso.app.ways_view import Way, WaysView
from sayso.ui.wording import State, Tone, describe

HOLD = WaysView(Way.HOLD, "Pause", key_works=True, phrase="hey sayso")
TOGGLE = WaysView(Way.TOGGLE, "F9", key_works=True, phrase="hey sayso")
FREE = WaysView(phrase="hey sayso")


def said(snapshot: Snapshot, ways: WaysView, **changes: object) -> State:
    return describe(replace(snapshot, ways=ways, **changes))


@pytest.mark.parametrize(
    ("ways", "detail"),
    [
        (FREE, "Press Start or Ctrl+L and speak."),
        (TOGGLE, "Press F9 and speak, or press Start."),
        (HOLD, "Hold Pause and speak, or press Start."),
        (replace(HOLD, key_works=False), "Press Start or Ctrl+L and speak."),
    ],
)
def test_with_the_microphone_closed_it_says_what_opens_it(ways: WaysView, detail: str) -> None:
    assert said(scenes.idle(), ways).detail == detail


@pytest.mark.parametrize(
    ("ways", "detail"),
    [
        (FREE, "Say a command. Anything else is only shown."),
        (TOGGLE, "Say a command. Anything else is only shown."),
        (HOLD, "Hold Pause and speak."),
        (replace(HOLD, held=True), "Let go of Pause when you have said it."),
        (replace(HOLD, held=True, drops_with_escape=True), "Let go of Pause when you have said it. Esc drops it."),
        (replace(FREE, asks_phrase=True), "Say “hey sayso” and then what to do. Anything else is only shown."),
        (replace(FREE, asks_phrase=True, attentive=True), "Say a command. Anything else is only shown."),
        (replace(FREE, asks_phrase=True, phrase=""), "Say a command. Anything else is only shown."),
        (replace(TOGGLE, asks_phrase=True), "Say a command. Anything else is only shown."),
    ],
)
def test_while_it_listens_it_says_how_to_speak(ways: WaysView, detail: str) -> None:
    assert said(scenes.empty(), ways).detail == detail


def test_in_dictation_holding_is_still_said_first() -> None:
    assert said(scenes.empty(), FREE, mode=Mode.DICTATION).detail.startswith("Speak.")
    assert said(scenes.empty(), HOLD, mode=Mode.DICTATION).detail == "Hold Pause and speak."


@pytest.mark.parametrize(
    ("ways", "detail"),
    [
        (FREE, "Say “start listening” or “hey sayso” to wake it; until then nothing is done."),
        (replace(FREE, phrase=""), "Say “start listening” to wake it; until then nothing is done."),
        (HOLD, "Hold Pause and speak to wake it."),
    ],
)
def test_asleep_it_says_what_wakes_it(ways: WaysView, detail: str) -> None:
    assert said(scenes.empty(), ways, asleep=True).detail == detail


def test_holding_without_a_key_that_works_is_trouble_and_says_why() -> None:
    taken = said(scenes.empty(), WaysView(Way.HOLD, "F9", key_detail="Another program has taken “F9”."))
    assert (taken.headline, taken.detail, taken.tone) == (
        "No key to hold",
        "Another program has taken “F9”.",
        Tone.BAD,
    )
    assert "Choose a key" in said(scenes.empty(), WaysView(Way.HOLD)).detail


def test_a_command_of_the_desktop_takes_the_place_of_a_key() -> None:
    held = said(scenes.empty(), WaysView(Way.HOLD, "F9", key_detail="There is no such key.", held=True))
    assert held.tone is not Tone.BAD
    assert "sayso stop" in held.detail
