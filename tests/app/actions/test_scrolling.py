"""The wheel turns over the window in front, and the pointer stays where the user left it."""

from __future__ import annotations

from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import Hands
from virtual_desktop import Terminal

from sayso.app.actions import ActionError, Receipt

pytestmark = pytest.mark.desktop

_TELL_MOUSE_BUTTONS = b"\x1b[?1000h"
_UP, _DOWN = b"\x1b[M\x60", b"\x1b[M\x61"
"""How xterm writes a turn of the wheel, before where it happened."""


@pytest.fixture
def wheel(terminal: Terminal) -> Terminal:
    """A terminal that writes down what the wheel does."""
    pid = terminal.process.pid
    program = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
    Path(f"/proc/{program}/fd/2").write_bytes(_TELL_MOUSE_BUTTONS)
    return terminal


@pytest.mark.parametrize(
    ("sentence", "turn", "clicks"),
    [
        ("scroll down", _DOWN, 4),
        ("scroll up", _UP, 4),
        ("scroll down three times", _DOWN, 12),
        ("scroll up 2", _UP, 8),
        ("scroll down a little", _DOWN, 1),
    ],
)
async def test_the_wheel_turns_in_the_window_and_the_pointer_comes_back(
    hands: Hands, wheel: Terminal, sentence: str, turn: bytes, clicks: int
) -> None:
    hands.desktop.xdotool("mousemove", 1200, 700)

    outcome = await hands.do(sentence)

    # Drawing takes the terminal a while, so the wish for the wheel may only have been read by now.
    wait_for(lambda: wheel.output.read_bytes().count(turn) == clicks, f"{clicks} turns")
    assert "x:1200 y:700" in hands.desktop.xdotool("getmouselocation")
    assert outcome.receipt is Receipt.SENT


@pytest.mark.parametrize(
    ("sentence", "arrives"), [("scroll to the top", b"\x1b[1;5H"), ("go to the bottom of the page", b"\x1b[1;5F")]
)
async def test_the_ends_are_reached_by_keys(hands: Hands, terminal: Terminal, sentence: str, arrives: bytes) -> None:
    await hands.do(sentence)

    wait_for(lambda: terminal.output.read_bytes() == arrives, f"{arrives!r}")


async def test_more_than_anyone_means_is_refused(hands: Hands, terminal: Terminal) -> None:
    with pytest.raises(ActionError) as refused:
        await hands.do("scroll down 50 times")

    assert refused.value.code == "too_often"
    assert terminal.output.read_bytes() == b""
