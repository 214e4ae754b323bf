"""Windows are shown another way as the X server itself tells it, and undo shows them as before."""

from __future__ import annotations

import os

import pytest
from bounded import wait_for
from spoken_actions import Hands
from virtual_desktop import Window

from sayso.app.actions import ActionError, Receipt
from sayso.app.actions.desktop.x11 import X11

pytestmark = pytest.mark.desktop

WIDTH, HEIGHT = 1280, 800
CHARACTER = 24
"""Pixels that a terminal may be smaller than asked, since it holds whole characters only."""


def frame(hands: Hands, window: Window) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a window's contents."""
    shape = hands.desktop.xdotool("getwindowgeometry", "--shell", window.id)
    values = dict(line.split("=") for line in shape.splitlines())
    left, top = int(values["X"]), int(values["Y"])
    return left, top, left + int(values["WIDTH"]), top + int(values["HEIGHT"])


async def test_minimize_hides_the_window_and_undo_or_restore_brings_it_back(hands: Hands) -> None:
    with hands.desktop.terminal("paper") as opened:
        outcome = await hands.do("minimize window")
        assert not hands.sees(opened.window)
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.detail == "XTerm is minimized"

        assert outcome.undo is not None
        await hands.performer.undo(outcome.undo)
        assert hands.sees(opened.window)

        await hands.do("minimize")
        await hands.do("restore window")
        assert hands.sees(opened.window)


async def test_maximize_and_restore(hands: Hands) -> None:
    with hands.desktop.terminal("paper") as opened:
        before = frame(hands, opened.window)
        outcome = await hands.do("maximize this window")
        left, top, right, bottom = frame(hands, opened.window)
        assert right - left > WIDTH - 2 * CHARACTER
        assert bottom - top > HEIGHT - 3 * CHARACTER
        assert outcome.receipt is Receipt.VERIFIED

        outcome = await hands.do("restore window")
        wait_for(lambda: frame(hands, opened.window) == before, "the size of before")
        assert (outcome.receipt, outcome.detail) == (Receipt.VERIFIED, "XTerm is at its normal size")


async def test_full_screen_covers_everything_and_ends(hands: Hands) -> None:
    with hands.desktop.terminal("paper") as opened:
        before = frame(hands, opened.window)
        await hands.do("full screen")
        assert frame(hands, opened.window) == (0, 0, WIDTH, HEIGHT)

        ended = await hands.do("exit full screen")
        wait_for(lambda: frame(hands, opened.window) == before, "the size of before")
        assert ended.receipt is Receipt.VERIFIED

        assert ended.undo is not None
        await hands.performer.undo(ended.undo)
        assert frame(hands, opened.window) == (0, 0, WIDTH, HEIGHT)


@pytest.mark.parametrize(("sentence", "side"), [("snap left", "left"), ("move the window to the right half", "right")])
async def test_snap_fills_one_half_and_undo_goes_back(hands: Hands, sentence: str, side: str) -> None:
    with hands.desktop.terminal("paper") as opened:
        before = frame(hands, opened.window)
        outcome = await hands.do(sentence)
        left, top, right, bottom = frame(hands, opened.window)

        edge = 0 if side == "left" else WIDTH // 2
        assert 0 <= left - edge <= CHARACTER
        assert 0 <= edge + WIDTH // 2 - right <= 2 * CHARACTER
        assert top < 2 * CHARACTER
        assert bottom > HEIGHT - 2 * CHARACTER
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.title == f"Put the window on the {side} half of the screen"

        assert outcome.undo is not None
        await hands.performer.undo(outcome.undo)
        assert frame(hands, opened.window) == before


async def test_a_maximized_window_snaps_too(hands: Hands) -> None:
    with hands.desktop.terminal("paper") as opened:
        await hands.do("maximize window")
        await hands.do("snap right")

        assert frame(hands, opened.window)[0] >= WIDTH // 2


@pytest.mark.parametrize(
    ("sentence", "code"),
    [("restore window", "nothing_to_restore"), ("exit full screen", "not_full_screen")],
)
async def test_what_has_nothing_to_change_is_refused(hands: Hands, sentence: str, code: str) -> None:
    with hands.desktop.terminal("paper"), pytest.raises(ActionError) as refused:
        await hands.do(sentence)

    assert refused.value.code == code


async def test_maximizing_twice_is_refused(hands: Hands) -> None:
    with hands.desktop.terminal("paper"):
        await hands.do("maximize window")
        with pytest.raises(ActionError) as refused:
            await hands.do("maximize window")

    assert refused.value.code == "already_so"


async def test_without_a_window_it_says_so(hands: Hands) -> None:
    with pytest.raises(ActionError) as refused:
        await hands.do("maximize window")

    assert refused.value.code == "no_window"


async def test_the_work_area_is_what_a_panel_leaves(hands: Hands) -> None:
    with hands.desktop.terminal("paper") as opened:
        backend = X11(hands.desktop.display)
        try:
            area = backend.work_area(opened.window.id)
        finally:
            backend.disconnect()

    assert (area.x, area.y, area.width, area.height) == (0, 0, WIDTH, HEIGHT)
    assert os.getpid() != opened.process.pid
