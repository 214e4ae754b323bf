"""The user's own commands, spoken, and their effects in other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import Hands
from virtual_desktop import Terminal

from sayso.app.actions import ActionError, Receipt, create
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.own import OwnCommand, OwnKind

pytestmark = pytest.mark.desktop


def hands_with(hands: Hands, kind: OwnKind, value: str) -> Hands:
    grammar = Grammar.load(own=[OwnCommand("my own command", kind, value)])

    def read(sentence: str) -> Match:
        found = match(grammar, sentence)
        assert isinstance(found, Match)
        return found

    return Hands(hands.performer, read, hands.desktop)


async def test_keys_are_pressed_one_after_another(hands: Hands, terminal: Terminal) -> None:
    outcome = await hands_with(hands, OwnKind.KEYS, "Ctrl+T Tab x").do("my own command")
    wait_for(lambda: terminal.output.read_bytes() == b"\x14\tx", "the keys")
    assert outcome.title == "Press Ctrl+T Tab x"
    assert outcome.receipt is Receipt.SENT


async def test_text_is_typed_and_can_be_taken_back(hands: Hands, terminal: Terminal) -> None:
    outcome = await hands_with(hands, OwnKind.TEXT, "Kind regards").do("my own command")
    wait_for(lambda: terminal.output.read_bytes() == b"Kind regards", "the text")
    assert outcome.undo is not None
    await hands.performer.undo(outcome.undo)
    wait_for(lambda: b"\x08" in terminal.output.read_bytes() or b"\x7f" in terminal.output.read_bytes(), "backspaces")


async def test_a_program_is_run_with_its_arguments(hands: Hands, tmp_path: Path) -> None:
    written = tmp_path / "written by it"
    outcome = await hands_with(hands, OwnKind.PROGRAM, f"cp /dev/null '{written}'").do("my own command")
    wait_for(written.exists, "the file that the program writes")
    assert outcome.title.startswith("Run cp")


@pytest.mark.parametrize(
    ("value", "code"),
    [("no-such-program-here", "program_missing"), ("false", "program_ended"), ("sh 'x", "bad_program")],
)
async def test_a_program_that_cannot_run_is_told(hands: Hands, value: str, code: str) -> None:
    with pytest.raises(ActionError) as refused:
        await hands_with(hands, OwnKind.PROGRAM, value).do("my own command")
    assert refused.value.code == code


async def test_an_address_reaches_the_browser(hands: Hands, tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {opened}.part && /bin/mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    performer = create(environment=hands.desktop.environment | {"BROWSER": str(browser)}, own_pid=os.getpid())
    own = hands_with(hands, OwnKind.ADDRESS, "https://example.org/a?b=c")
    try:
        await performer.perform(own.read("my own command"))
    finally:
        await performer.close()
    wait_for(opened.exists, "an opened address")
    assert opened.read_text() == "https://example.org/a?b=c"


async def test_keys_that_are_none_any_more_are_told(hands: Hands, terminal: Terminal) -> None:
    with pytest.raises(ActionError) as refused:
        await hands_with(hands, OwnKind.KEYS, "Hyper+Q").do("my own command")
    assert refused.value.code == "bad_keys"
