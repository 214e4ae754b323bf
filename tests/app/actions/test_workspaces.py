"""Workspaces are shown and windows moved between them, as xdotool tells it."""

from __future__ import annotations

import contextlib

import pytest
from bounded import wait_for
from spoken_actions import Hands

from sayso.app.actions import ActionError, Receipt

pytestmark = pytest.mark.desktop


@pytest.fixture(autouse=True)
def three_workspaces(hands: Hands) -> None:
    hands.desktop.xdotool("set_num_desktops", 3)
    hands.desktop.xdotool("set_desktop", 0)

    def first() -> bool:
        with contextlib.suppress(AssertionError):  # A window manager that has just begun may have told none yet.
            return shown(hands) == 0
        return False

    wait_for(first, "the first workspace")


def shown(hands: Hands) -> int:
    return int(hands.desktop.xdotool("get_desktop"))


async def test_next_previous_and_numbered_workspaces_are_shown_and_undo_goes_back(hands: Hands) -> None:
    for sentence, workspace in [
        ("next workspace", 1),
        ("go to workspace three", 2),
        ("switch to the next desktop", 0),
        ("previous workspace", 2),
    ]:
        outcome = await hands.do(sentence)
        assert shown(hands) == workspace
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.detail == f"workspace {workspace + 1} is shown"

    assert outcome.undo is not None
    await hands.performer.undo(outcome.undo)
    assert shown(hands) == 0


async def test_a_window_moves_to_another_workspace_and_comes_back(hands: Hands) -> None:
    with hands.desktop.terminal("luggage") as opened:
        outcome = await hands.do("move this window to workspace 2")
        assert hands.desktop.xdotool("get_desktop_for_window", opened.window.id) == "1"
        assert shown(hands) == 0

        assert outcome.undo is not None
        await hands.performer.undo(outcome.undo)
        assert hands.desktop.xdotool("get_desktop_for_window", opened.window.id) == "0"

        await hands.do("move window to the previous workspace")
        assert hands.desktop.xdotool("get_desktop_for_window", opened.window.id) == "2"


async def test_show_desktop_hides_all_windows_and_undo_brings_them_back(hands: Hands) -> None:
    with hands.desktop.terminal("clutter") as opened:
        outcome = await hands.do("show desktop")
        assert not hands.sees(opened.window)

        with pytest.raises(ActionError) as refused:
            await hands.do("show the desktop")
        assert refused.value.code == "already_so"

        assert outcome.undo is not None
        await hands.performer.undo(outcome.undo)
        wait_for(lambda: hands.sees(opened.window), "the window to be seen again")


async def test_a_workspace_that_is_not_there_is_refused_with_how_many_there_are(hands: Hands) -> None:
    with pytest.raises(ActionError) as refused:
        await hands.do("go to workspace 7")

    assert refused.value.code == "no_such_workspace"
    assert "there are 3" in str(refused.value)
    assert shown(hands) == 0


async def test_the_next_of_one_workspace_is_refused(hands: Hands) -> None:
    hands.desktop.xdotool("set_num_desktops", 1)

    with pytest.raises(ActionError) as refused:
        await hands.do("next workspace")

    assert refused.value.code == "only_workspace"
