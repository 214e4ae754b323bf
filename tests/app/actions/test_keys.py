"""Keys and chords reach the window in front, as often as was said, and no modifier stays down."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bounded import wait_for
from spoken_actions import Hands
from virtual_desktop import Terminal

from sayso.app.actions import ActionError, Receipt

pytestmark = pytest.mark.desktop


@pytest.mark.parametrize(
    ("sentence", "arrives"),
    [
        ("press enter", b"\r"),
        ("press tab three times", b"\t\t\t"),
        ("press control t", b"\x14"),
        ("Press Ctrl+C.", b"\x03"),
        ("press escape", b"\x1b"),
        ("press shift a", b"A"),
        ("press alt x", "\u00f8".encode()),
        ("press the up arrow twice", b"\x1b[A\x1b[A"),
        ("press F5", b"\x1b[15~"),
        ("press page down", b"\x1b[6~"),
        ("press control shift left", b"\x1b[1;6D"),
        ("press question mark", b"?"),
    ],
)
async def test_a_chord_arrives_in_the_window_in_front(
    hands: Hands, terminal: Terminal, sentence: str, arrives: bytes
) -> None:
    outcome = await hands.do(sentence)

    wait_for(lambda: len(terminal.output.read_bytes()) >= len(arrives), f"{arrives!r}")
    assert terminal.output.read_bytes() == arrives
    assert outcome.receipt is Receipt.SENT


async def test_no_modifier_is_left_down_after_a_chord_or_a_refusal(hands: Hands, terminal: Terminal) -> None:
    await hands.do("press control shift alt t")
    await hands.do("type ok")
    wait_for(lambda: terminal.output.read_bytes().endswith(b"ok"), "plain letters after a chord")

    unknown = replace(hands.read("press control t"), slots={"modifier": "control", "key": "NoSuchKey"})
    with pytest.raises(ActionError) as refused:
        await hands.performer.perform(unknown)
    await hands.do("type on")

    assert refused.value.code == "no_such_key"
    wait_for(lambda: terminal.output.read_bytes().endswith(b"okon"), "plain letters after a refusal")


async def test_more_presses_than_anyone_means_are_refused(hands: Hands, terminal: Terminal) -> None:
    match = hands.read("press tab 50 times")
    match.slots["count"] = "51"

    with pytest.raises(ActionError) as refused:
        await hands.performer.perform(match)

    assert refused.value.code == "too_often"
    assert terminal.output.read_bytes() == b""


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("press control shift t", "Press Control+Shift+T"),
        ("press shift control t", "Press Control+Shift+T"),
        ("press enter twice", "Press Enter 2 times"),
        ("press page up", "Press Page Up"),
        ("press windows", "Press Super"),
    ],
)
async def test_a_chord_is_described_in_words(hands: Hands, sentence: str, title: str) -> None:
    assert hands.performer.describe(hands.read(sentence)) == title
