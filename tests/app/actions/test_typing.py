"""Typed text arrives byte for byte, and only what was typed is taken back."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bounded import child, wait_for
from spoken_actions import Hands
from virtual_desktop import Terminal, VirtualDesktop, Window, virtual_desktop

from sayso.app.actions import ActionError, Receipt, create
from sayso.app.actions.typing import printable
from sayso.app.commands.matching import Match

pytestmark = pytest.mark.desktop


def received(terminal: Terminal, text: str) -> bytes:
    """All bytes typed into a terminal once those of ``text`` are among them."""
    wanted = text.encode()
    wait_for(lambda: wanted in terminal.output.read_bytes(), f"{text!r} in {terminal.title!r}")
    return terminal.output.read_bytes()


@contextmanager
def line_reader(desktop: VirtualDesktop, folder: Path) -> Iterator[tuple[Window, Path]]:
    """An xterm whose program reads whole lines, so that backspaces do what they do in a shell."""
    output = folder / "lines"
    program = f"stty iutf8 erase '^?' && touch {shlex.quote(str(output))} && exec cat > {shlex.quote(str(output))}"
    resources = "-xrm", "XTerm*backarrowKeyIsErase: false", "-xrm", "XTerm*ptyInitialErase: true"
    command = ["xterm", *resources, "-xrm", "XTerm*backarrowKey: false", "-T", "lines", "-e", "sh", "-c", program]
    with child(command, desktop.environment, folder / "xterm.log"):
        window = desktop.wait_for_window("lines")
        wait_for(output.exists, "the line reader")
        desktop.focus(window)
        yield window, output


@pytest.mark.parametrize(
    "text",
    [
        "hello world",
        "Every key: ~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./ and digits 0123456789",
        "Straße, café, naïve, 5 € and “quotes” — done",
        "日本 и ש",
        "smile 😀 and ∑∞≠",
    ],
)
async def test_typed_text_arrives_byte_for_byte(hands: Hands, terminal: Terminal, text: str) -> None:
    outcome = await hands.do(f"type {text}")

    assert received(terminal, text) == text.encode()
    assert outcome.receipt is Receipt.SENT
    assert outcome.undo is not None


async def test_a_long_text_loses_no_character(hands: Hands, terminal: Terminal) -> None:
    text = " ".join(f"word{number} The quick brown Fox; jumps" for number in range(60))

    await hands.do(f"type {text}")

    assert received(terminal, text) == text.encode()


async def test_more_foreign_characters_than_free_keys_arrive_in_order(said: Callable[[str], Match]) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(21))

    # On a desktop of its own: a window manager is busy for seconds with that many changes of the keyboard.
    with virtual_desktop(sound=False, session_bus=False) as own, own.terminal() as terminal:
        performer = create(environment=own.environment)
        await performer.perform(said(f"type {text}"))
        await performer.close()

        assert received(terminal, text) == text.encode()


async def test_the_keyboard_mapping_is_as_before_after_typing(hands: Hands, terminal: Terminal) -> None:
    before = hands.desktop.xdotool("version"), keyboard(hands.desktop)

    await hands.do("type naïve 日本")
    received(terminal, "日本")

    assert keyboard(hands.desktop) == before[1]


async def test_caps_lock_does_not_change_typed_text_and_stays_on(hands: Hands, terminal: Terminal) -> None:
    hands.desktop.xdotool("key", "Caps_Lock")
    try:
        await hands.do("type Mixed Case")
        assert received(terminal, "Mixed Case") == b"Mixed Case"
        hands.desktop.xdotool("key", "a")
        assert received(terminal, "A") == b"Mixed CaseA"
    finally:
        hands.desktop.xdotool("key", "Caps_Lock")


async def test_a_modifier_held_by_hand_is_waited_for_and_then_refused(hands: Hands, terminal: Terminal) -> None:
    hands.desktop.xdotool("keydown", "Control_L")
    try:
        with pytest.raises(ActionError) as refused:
            await hands.do("type secret")
    finally:
        hands.desktop.xdotool("keyup", "Control_L")

    assert refused.value.code == "modifier_held"
    assert "secret" not in str(refused.value)
    await hands.do("type after")
    assert received(terminal, "after") == b"after"


async def test_text_meant_for_one_window_is_not_typed_into_another(hands: Hands, terminal: Terminal) -> None:
    meant = await hands.performer.target()
    with hands.desktop.terminal("other window") as other:
        with pytest.raises(ActionError) as refused:
            await hands.performer.type("for the first", meant)

        assert refused.value.code == "window_changed"
        assert other.output.read_bytes() == terminal.output.read_bytes() == b""


async def test_dictations_one_after_another_are_set_apart_by_a_space(hands: Hands, terminal: Terminal) -> None:
    await hands.performer.type("Hello there.")
    await hands.performer.type("How are you?")

    assert received(terminal, "you?") == b"Hello there. How are you?"


async def test_scratch_that_removes_exactly_the_last_typed_text(
    hands: Hands, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    with line_reader(desktop, tmp_path) as (_, output):
        await hands.do("type keep")
        await hands.performer.type("wörter weg €")
        outcome = await hands.do("scratch that")
        await hands.do("type ing")
        await hands.do("press enter")

        wait_for(output.read_bytes, "a line")
        assert output.read_bytes() == b"keeping\n"
        assert "12 characters" in outcome.detail


async def test_scratch_that_goes_back_one_dictation_each_time_it_is_said(
    hands: Hands, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    with line_reader(desktop, tmp_path) as (_, output):
        for piece in ("one", "two", "three"):
            await hands.performer.type(piece)
        await hands.do("scratch that")
        await hands.do("scratch that")
        await hands.do("press enter")

        wait_for(output.read_bytes, "a line")
        assert output.read_bytes() == b"one\n"


async def test_undo_of_a_scratch_types_the_text_again(hands: Hands, terminal: Terminal) -> None:
    await hands.do("type back")
    await hands.do("scratch that")
    typed = len(terminal.output.read_bytes())

    outcome = await hands.do("undo that")

    wait_for(lambda: terminal.output.read_bytes().endswith(b"back"), "the text again")
    assert len(terminal.output.read_bytes()) >= typed
    assert outcome.title == "Undo: Remove what was typed last"


async def test_the_undo_of_typed_text_removes_it_once_only(
    hands: Hands, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    with line_reader(desktop, tmp_path) as (_, output):
        token = (await hands.performer.type("oops")).undo
        assert token is not None
        await hands.performer.undo(token)
        with pytest.raises(ActionError, match="no longer"):
            await hands.performer.undo(token)
        await hands.do("type fine")
        await hands.do("press enter")

        wait_for(output.read_bytes, "a line")
        assert output.read_bytes() == b"fine\n"


async def test_scratch_that_is_refused_when_another_window_has_the_keyboard(hands: Hands, terminal: Terminal) -> None:
    await hands.do("type stays")
    received(terminal, "stays")
    with hands.desktop.terminal("other window") as other:
        with pytest.raises(ActionError) as refused:
            await hands.do("scratch that")

        assert refused.value.code == "window_changed"
        assert other.output.read_bytes() == b""
    hands.desktop.focus(terminal.window)
    await hands.do("scratch that")
    wait_for(lambda: len(terminal.output.read_bytes()) == len("stays") * 2, "as many backspaces as letters")


async def test_scratch_that_is_refused_after_a_key_may_have_moved_the_cursor(hands: Hands, terminal: Terminal) -> None:
    await hands.do("type stays")
    await hands.do("press left")

    with pytest.raises(ActionError) as refused:
        await hands.do("scratch that")

    assert refused.value.code == "nothing_to_scratch"


async def test_scratch_that_is_refused_after_typing_by_hand_but_not_after_moving_the_mouse(
    hands: Hands, terminal: Terminal
) -> None:
    await hands.do("type first")
    await hands.do("type second")
    hands.desktop.xdotool("mousemove", 300, 300)
    await hands.do("scratch that")
    wait_for(lambda: len(terminal.output.read_bytes()) == len("firstsecond") + len("second"), "the backspaces")

    await asyncio.sleep(0.2)  # A use within a tenth of a second of ours cannot be told apart from it.
    hands.desktop.xdotool("key", "h")
    with pytest.raises(ActionError) as refused:
        await hands.do("scratch that")

    assert refused.value.code == "used_by_hand"
    received(terminal, "h")
    assert terminal.output.read_bytes().endswith(b"h")


async def test_a_cancelled_action_stops_typing(hands: Hands, terminal: Terminal) -> None:
    text = "x" * 200_000
    typing = asyncio.ensure_future(hands.performer.type(text))
    await asyncio.to_thread(wait_for, terminal.output.read_bytes, "the first characters")
    typing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await typing

    await hands.do("press enter")
    await asyncio.to_thread(wait_for, lambda: terminal.output.read_bytes().endswith(b"\r"), "the key after it")
    assert len(terminal.output.read_bytes()) < len(text)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("two\nlines", "two lines"),
        ("bell\a and escape\x1b[31m", "bell and escape[31m"),
        ("e\u0301", "é"),
        ("  spaces   between ", "spaces between"),
    ],
)
def test_text_is_made_safe_to_type(text: str, clean: str) -> None:
    assert printable(text) == clean


def keyboard(desktop: VirtualDesktop) -> str:
    """The display's whole keyboard mapping."""
    import subprocess

    command = ["xkbcomp", "-xkb", desktop.display, "-"]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
