"""Windows are closed, switched and cycled, and what is not there is refused by name."""

from __future__ import annotations

import os

import pytest
from bounded import wait_for
from spoken_actions import ApplicationFolder, Hands

from sayso.app.actions import ActionError, Receipt, create

pytestmark = pytest.mark.desktop


async def test_close_window_closes_the_one_in_front_only(hands: Hands) -> None:
    with hands.desktop.terminal("stays") as first, hands.desktop.terminal("goes") as second:
        outcome = await hands.do("close window")

        hands.desktop.wait_until_closed(second.window)
        assert [window.id for window in hands.desktop.windows()] == [first.window.id]
        assert outcome.receipt is Receipt.VERIFIED
        assert outcome.title == "Close XTerm"
        assert outcome.undo is None


async def test_close_with_a_name_closes_a_window_behind(hands: Hands, applications: ApplicationFolder) -> None:
    applications.add("calc", Name="Calculator", Exec="xterm -class Calculator -T sums", StartupWMClass="Calculator")
    await hands.do("open calculator")
    with hands.desktop.terminal("in front") as front:
        await hands.do("close calculator")

        assert [window.id for window in hands.desktop.windows()] == [front.window.id]


async def test_switch_to_brings_an_application_to_the_front_and_undo_goes_back(
    hands: Hands, applications: ApplicationFolder
) -> None:
    applications.add("notes", Name="Note Book", Exec="xterm -class NoteBook -T pages", StartupWMClass="NoteBook")
    await hands.do("open note book")
    with hands.desktop.terminal("in front") as front:
        outcome = await hands.do("switch to notebook")
        active = hands.desktop.active_window()
        assert active is not None
        assert active.title == "pages"

        assert outcome.undo is not None
        await hands.performer.undo(outcome.undo)
        active = hands.desktop.active_window()
        assert active is not None
        assert active.id == front.window.id
    await hands.do("close note book")


async def test_a_window_is_found_by_what_people_call_its_kind(hands: Hands, applications: ApplicationFolder) -> None:
    for name in ("XTerm", "Other"):
        applications.add(
            name.lower(), Name=name, Exec="xterm", StartupWMClass=name, Categories="System;TerminalEmulator;"
        )
    with hands.desktop.terminal("wanted") as wanted, hands.desktop.terminal("not ours"):
        hands.desktop.focus(wanted.window)
        outcome = await hands.do("close the terminal")

        hands.desktop.wait_until_closed(wanted.window)
        assert outcome.title == "Close XTerm"


async def test_next_and_previous_window_go_round_in_the_order_of_age(hands: Hands) -> None:
    with (
        hands.desktop.terminal("first") as first,
        hands.desktop.terminal("second") as second,
        hands.desktop.terminal("third") as third,
    ):
        seen = []
        for sentence in ("next window", "next window", "next window", "previous window"):
            await hands.do(sentence)
            active = hands.desktop.active_window()
            assert active is not None
            seen.append(active.id)

        assert seen == [first.window.id, second.window.id, third.window.id, second.window.id]


async def test_a_name_that_no_window_has_is_refused_and_closes_nothing(hands: Hands) -> None:
    with hands.desktop.terminal("alone"):
        with pytest.raises(ActionError) as refused:
            await hands.do("close spreadsheet")

        assert refused.value.code == "no_such_window"
        assert "spreadsheet" in str(refused.value)
        assert len(hands.desktop.windows()) == 1


async def test_next_window_with_only_one_is_refused(hands: Hands) -> None:
    with hands.desktop.terminal("alone"), pytest.raises(ActionError) as refused:
        await hands.do("next window")

    assert refused.value.code == "only_window"


async def test_our_own_window_in_front_is_neither_closed_nor_typed_into(hands: Hands) -> None:
    with hands.desktop.terminal("target") as target, hands.desktop.terminal("ours") as ours:
        own = create(environment=hands.desktop.environment, own_pid=ours.process.pid)
        try:
            await own.perform(hands.read("type hello"))
            wait_for(lambda: target.output.read_bytes() == b"hello", "the text in the window behind")
            hands.desktop.focus(ours.window)
            await own.perform(hands.read("close window"))
        finally:
            await own.close()

        assert [window.id for window in hands.desktop.windows()] == [ours.window.id]
        assert ours.output.read_bytes() == b""
        assert ours.process.pid != os.getpid()


async def test_names_tell_the_open_windows(hands: Hands) -> None:
    with hands.desktop.terminal("some title"):
        names = await hands.performer.names()

        assert names.knows("x term")
        assert not names.knows("some title")
