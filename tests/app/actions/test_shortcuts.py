"""Well-known keys reach ordinary windows, and terminals get their own or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bounded import child, wait_for
from spoken_actions import Hands
from virtual_desktop import Terminal

from sayso.app.actions import ActionError, Receipt
from sayso.app.actions.desktop.base import Chord, Window
from sayso.app.actions.shortcuts import SHORTCUTS
from sayso.app.commands.grammar import Grammar

pytestmark = pytest.mark.desktop


@pytest.fixture
def editor(hands: Hands) -> Iterator[Terminal]:
    """A window that writes down all bytes and is no terminal by its class."""
    output = hands.desktop.folder / "editor.typed"
    output.unlink(missing_ok=True)
    program = f"stty -icanon -isig -icrnl min 1 && touch {output} && exec cat -u > {output}"
    command = ["xterm", "-class", "Editor", "-name", "editor", "-T", "a page", "-e", "sh", "-c", program]
    with child(command, hands.desktop.environment, hands.desktop.folder / "editor.log") as process:
        window = hands.desktop.wait_for_window("a page")
        wait_for(output.exists, "the editor")
        hands.desktop.focus(window)
        yield Terminal("a page", window, output, process)


@pytest.mark.parametrize(
    ("sentence", "arrives"),
    [
        ("new tab", b"\x14"),
        ("close this tab", b"\x17"),
        ("next tab", b"\x1b[6;5~"),
        ("go to the previous tab", b"\x1b[5;5~"),
        ("reload the page", b"\x1b[15~"),
        ("go back", b"\x1b[1;3D"),
        ("find on page two words", b"\x06two words"),
        ("copy that", b"\x03"),
        ("press cut", b"\x18"),
        ("paste that", b"\x16"),
        ("select all", b"\x01"),
        ("press undo", b"\x1a"),
        ("press undo twice", b"\x1a\x1a"),
        ("redo that", b"\x1a"),
        ("new line", b"\r"),
        ("new paragraph", b"\r\r"),
        ("delete the last word", b"\x08"),
        ("go to the start of the line", b"\x1b[H"),
        ("go to the end of the line", b"\x1b[F"),
    ],
)
async def test_the_keys_arrive_in_the_window_in_front(
    hands: Hands, editor: Terminal, sentence: str, arrives: bytes
) -> None:
    outcome = await hands.do(sentence)

    wait_for(lambda: len(editor.output.read_bytes()) >= len(arrives), f"{arrives!r}")
    assert editor.output.read_bytes() == arrives
    assert outcome.receipt is Receipt.SENT
    assert "sent to a page" in outcome.detail


async def test_a_terminal_gets_its_own_keys(hands: Hands, terminal: Terminal) -> None:
    await hands.do("delete last three words")

    wait_for(lambda: terminal.output.read_bytes() == b"\x17\x17\x17", "three times control W")


@pytest.mark.parametrize("sentence", ["copy that", "press undo", "press cut", "select all", "new tab"])
async def test_keys_that_could_stop_a_program_are_never_sent_to_a_terminal(
    hands: Hands, terminal: Terminal, sentence: str
) -> None:
    with pytest.raises(ActionError) as refused:
        await hands.do(sentence)

    assert refused.value.code == "not_in_terminal"
    assert sentence in str(refused.value)
    assert terminal.output.read_bytes() == b""


@pytest.mark.parametrize(
    ("verb", "window", "chord"),
    [
        ("copy", Window(1, application="Gnome-terminal"), Chord(("control", "shift"), "c")),
        ("paste", Window(1, application="konsole"), Chord(("control", "shift"), "v")),
        ("paste", Window(1, application="XTerm"), Chord(("shift",), "Insert")),
        ("undo", Window(1, application="Alacritty"), None),
        ("undo", Window(1, application="Gedit"), Chord(("control",), "z")),
        ("reopen_tab", Window(1, application="kitty"), None),
        ("zoom_in", Window(1, application="firefox"), Chord(("control",), "plus")),
    ],
)
def test_each_kind_of_window_has_its_keys(verb: str, window: Window, chord: Chord | None) -> None:
    assert SHORTCUTS[verb].for_window(window) == chord


def test_every_shortcut_can_be_said() -> None:
    verbs = {command.verb for command in Grammar.load().commands.values() if command.family == "shortcuts"}

    assert verbs == set(SHORTCUTS)


async def test_after_keys_scratch_that_removes_nothing(hands: Hands, editor: Terminal) -> None:
    await hands.do("type something")
    await hands.do("go to the start of the line")

    with pytest.raises(ActionError) as refused:
        await hands.do("scratch that")

    assert refused.value.code == "nothing_to_scratch"
