"""Text arrives byte for byte in the window that was meant, and only what was inserted is taken back."""

from __future__ import annotations

import asyncio
import random
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import xcffib
from bounded import child, wait_for
from clipboard import copied, on_clipboard, wait_for_clipboard
from spoken_actions import Hands
from virtual_desktop import Terminal, VirtualDesktop, Window
from xcffib.xproto import GrabMode, GrabStatus, WindowClass

from sayso.app.actions import ActionError, Receipt, create
from sayso.app.actions.desktop import Chord
from sayso.app.actions.desktop import Window as ActionWindow
from sayso.app.actions.desktop.none import Refusing
from sayso.app.actions.typing import Typist

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
    ("text", "receipt"),
    [
        ("hello world", Receipt.SENT),
        ("~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./", Receipt.SENT),
        ("Every key: ~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./ and digits 0123456789", Receipt.VERIFIED),
        ("Straße, café, naïve, 5 € and “quotes” — done", Receipt.VERIFIED),
        ("日本 и ש", Receipt.VERIFIED),
        ("smile 😀 and ∑∞≠", Receipt.VERIFIED),
    ],
)
async def test_text_arrives_byte_for_byte_and_the_receipt_tells_how_sure_it_is(
    hands: Hands, terminal: Terminal, text: str, receipt: Receipt
) -> None:
    outcome = await hands.do(f"type {text}")

    assert received(terminal, text) == text.encode()
    assert outcome.receipt is receipt
    assert outcome.undo is not None


async def test_caps_lock_does_not_change_typed_text_and_stays_on(hands: Hands, terminal: Terminal) -> None:
    hands.desktop.xdotool("key", "Caps_Lock")
    try:
        await hands.do("type Mixed Case")
        assert received(terminal, "Mixed Case") == b"Mixed Case"
        hands.desktop.xdotool("key", "a")
        assert received(terminal, "A") == b"Mixed CaseA"
    finally:
        hands.desktop.xdotool("key", "Caps_Lock")


async def test_with_a_modifier_held_by_hand_text_goes_to_the_clipboard(hands: Hands, terminal: Terminal) -> None:
    hands.desktop.xdotool("keydown", "Control_L")
    try:
        outcome = await hands.do("type secret café")
    finally:
        hands.desktop.xdotool("keyup", "Control_L")

    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert outcome.undo is None
    assert "modifier key is held down" in outcome.detail
    assert "secret" not in outcome.detail
    wait_for_clipboard(hands.desktop, "secret café")
    assert terminal.output.read_bytes() == b""
    await hands.do("type after")
    assert received(terminal, "after") == b"after"


@pytest.mark.parametrize("text", ["for the first", "für das erste"])
async def test_text_goes_to_the_window_in_which_it_was_begun_and_the_speaker_stays_in_the_other(
    hands: Hands, terminal: Terminal, text: str
) -> None:
    meant = await hands.performer.target()
    with hands.desktop.terminal("other window") as other:
        await hands.performer.type(text, meant)

        assert received(terminal, text) == text.encode()
        assert other.output.read_bytes() == b""
        active = hands.desktop.active_window()
        assert active is not None
        assert active.id == other.window.id


async def test_text_whose_window_has_closed_is_on_the_clipboard_and_in_no_other_window(
    hands: Hands, terminal: Terminal
) -> None:
    with hands.desktop.terminal("soon gone") as gone:
        meant = await hands.performer.target()
    hands.desktop.wait_until_closed(gone.window)
    hands.desktop.focus(terminal.window)

    outcome = await hands.performer.type("for nobody", meant)

    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "closed" in outcome.detail
    wait_for_clipboard(hands.desktop, "for nobody")
    assert terminal.output.read_bytes() == b""


async def test_a_program_that_has_taken_the_keyboard_gets_no_text(hands: Hands, terminal: Terminal) -> None:
    connection = xcffib.connect(display=hands.desktop.display)
    try:
        root = connection.get_setup().roots[0].root
        grabbed = connection.core.GrabKeyboard(False, root, 0, GrabMode.Async, GrabMode.Async).reply()
        assert grabbed.status == GrabStatus.Success
        outcome = await hands.performer.type("not for it")
    finally:
        connection.disconnect()

    assert outcome.receipt is Receipt.ON_CLIPBOARD
    assert "Another program has the keyboard" in outcome.detail
    await hands.do("type after")
    assert received(terminal, "after") == b"after"


async def test_a_program_that_does_not_take_the_paste_is_told_and_the_text_waits_on_the_clipboard(
    hands: Hands, tmp_path: Path
) -> None:
    # It has a window and the keyboard, but Control+V means nothing to it.
    with child(["xev", "-name", "deaf"], hands.desktop.environment, tmp_path / "xev.log"):
        hands.desktop.focus(hands.desktop.wait_for_window("deaf"))
        outcome = await hands.performer.type("naïve")

        assert outcome.receipt is Receipt.ON_CLIPBOARD
        assert outcome.undo is None
        assert "deaf did not take the paste" in outcome.detail
        wait_for_clipboard(hands.desktop, "naïve")


async def test_a_clipboard_whose_owner_does_not_answer_is_left_alone_and_the_text_is_typed(
    hands: Hands, terminal: Terminal
) -> None:
    with silent_owner(hands.desktop) as owner:
        outcome = await hands.performer.type("naïve")

        assert received(terminal, "naïve") == "naïve".encode()
        assert outcome.receipt is Receipt.SENT
        assert owner()


async def test_what_was_copied_is_on_the_clipboard_in_all_formats_after_pasting(
    hands: Hands, terminal: Terminal, tmp_path: Path
) -> None:
    text, picture = "copied before — ja", random.Random(1).randbytes(300_000)
    with copied(hands.desktop, text, picture, tmp_path):
        offered = set((on_clipboard(hands.desktop, "TARGETS") or b"").split())
        for _ in range(3):
            await hands.performer.type("naïve")
        received(terminal, "naïve naïve naïve")

        wait_for_clipboard(hands.desktop, text)
        assert on_clipboard(hands.desktop, "image/png") == picture
        assert offered - {b"SAVE_TARGETS"} <= set((on_clipboard(hands.desktop, "TARGETS") or b"").split())


async def test_what_is_copied_right_after_pasting_stays_on_the_clipboard(hands: Hands, terminal: Terminal) -> None:
    copy(hands.desktop, "before")
    await hands.performer.type("naïve")
    copy(hands.desktop, "after")
    await hands.performer.type("x")
    received(terminal, "naïve x")

    assert on_clipboard(hands.desktop) == b"after"


async def test_a_long_text_is_pasted_whole(hands: Hands, terminal: Terminal) -> None:
    copy(hands.desktop, "before")
    text = "".join(f"{number} ß " for number in range(20_000)).strip()

    await hands.performer.type(text)

    assert received(terminal, text) == text.encode()
    wait_for_clipboard(hands.desktop, "before")


async def test_dictations_one_after_another_are_set_apart_by_a_space(hands: Hands, terminal: Terminal) -> None:
    await hands.performer.type("Hello there.")
    await hands.performer.type("How are you?")

    assert received(terminal, "you?") == b"Hello there. How are you?"


async def test_what_is_typed_by_command_is_set_apart_from_what_was_typed_before(
    hands: Hands, terminal: Terminal
) -> None:
    await hands.do("type good morning")
    await hands.do("type everyone")
    await hands.performer.type(", how are you?")
    await hands.do("type fine")

    assert received(terminal, "fine") == b"good morning everyone, how are you? fine"


async def test_what_is_typed_into_another_window_or_after_a_key_is_set_apart_from_nothing(
    hands: Hands, terminal: Terminal
) -> None:
    await hands.do("type good morning")
    with hands.desktop.terminal("other window") as other:
        await hands.do("type everyone")
        assert received(other, "everyone") == b"everyone"
        await hands.do("press tab")
        await hands.do("type next")
        assert received(other, "next") == b"everyone\tnext"


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
        assert output.read_bytes() == b"keep ing\n"
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


async def test_what_was_scratched_is_told_as_taken_back_and_cannot_be_taken_back_again(
    hands: Hands, terminal: Terminal
) -> None:
    typed = await hands.do("type back")
    scratched = await hands.do("scratch that")
    assert typed.undo is not None
    assert scratched.undone == typed.undo
    with pytest.raises(ActionError) as refused:
        await hands.performer.undo(typed.undo)
    assert refused.value.code == "undo_gone"
    # Typed again, it is the text of “scratch that” and no more of the first action.
    await hands.do("undo that")
    assert (await hands.do("scratch that")).undone is None


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


async def test_what_was_scratched_comes_back_in_its_own_window_whichever_is_in_front(
    hands: Hands, terminal: Terminal
) -> None:
    await hands.do("type back")
    scratched = await hands.do("scratch that")
    assert scratched.undo is not None
    with hands.desktop.terminal("other window") as other:
        await hands.performer.undo(scratched.undo)

        wait_for(lambda: terminal.output.read_bytes().endswith(b"back"), "the text again")
        assert other.output.read_bytes() == b""


def test_after_a_scratch_that_broke_off_nothing_before_it_is_removed() -> None:
    halt = threading.Event()
    window = OneWindow()
    typist = Typist(window, own_pid=1)
    typist.type("one", None, halt)
    typist.type("two", None, halt)
    window.breaks_off = "window_changed"
    for code in ("window_changed", "nothing_to_scratch"):
        with pytest.raises(ActionError) as refused:
            typist.take_back(halt)
        assert refused.value.code == code


def test_a_scratch_that_had_not_begun_can_be_tried_again() -> None:
    halt = threading.Event()
    window = OneWindow()
    typist = Typist(window, own_pid=1)
    typed = typist.type("one", None, halt)
    window.breaks_off = "modifier_held"
    with pytest.raises(ActionError):
        typist.take_back(halt)
    window.breaks_off = ""
    assert typist.take_back(halt).typed is typed


class OneWindow(Refusing):
    """A session with one window that takes all text; ``breaks_off`` is why keys are refused."""

    breaks_off = ""

    def __init__(self) -> None:
        super().__init__("played", "")

    def active_window(self) -> ActionWindow:
        return ActionWindow(7, "editor", pid=2)

    def has_keys_for(self, text: str) -> bool:
        return True

    def type_text(self, text: str, window: int, halt: threading.Event) -> None:
        assert window == 7

    def untouched(self, window: int, halt: threading.Event) -> bool:
        return True

    def press(self, chord: Chord, times: int, window: int | None, halt: threading.Event) -> None:
        if self.breaks_off:
            raise ActionError(self.breaks_off, "It broke off.")


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
    await asyncio.sleep(0.2)  # A use within a tenth of a second of ours cannot be told apart from it.
    hands.desktop.xdotool("mousemove", 300, 300)
    await hands.do("scratch that")
    wait_for(lambda: len(terminal.output.read_bytes()) == len("first second" + " second"), "the backspaces")

    await asyncio.sleep(0.2)
    hands.desktop.xdotool("key", "h")
    with pytest.raises(ActionError) as refused:
        await hands.do("scratch that")

    assert refused.value.code == "used_by_hand"
    received(terminal, "h")
    assert terminal.output.read_bytes().endswith(b"h")


@contextmanager
def own_window(hands: Hands, folder: Path) -> Iterator[tuple[Hands, Window]]:
    """A window that stands for Sayso's own, and hands that take it for that; it has the keyboard at first."""
    with child(["xterm", "-T", "own window"], hands.desktop.environment, folder / "own.log") as process:
        window = hands.desktop.wait_for_window("own window")
        hands.desktop.focus(window)
        performer = create(environment=hands.desktop.environment, own_pid=process.pid)
        yield Hands(performer, hands.read, hands.desktop), window


def have_the_keyboard(desktop: VirtualDesktop, window: Window) -> None:
    """Return when the window has it."""

    def active() -> bool:
        found = desktop.active_window()
        return found is not None and found.id == window.id

    wait_for(active, f"{window.title!r} to have the keyboard")


async def test_undo_in_our_own_window_brings_the_text_s_window_forward_and_ours_again(
    hands: Hands, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    with line_reader(desktop, tmp_path) as (target, output), own_window(hands, tmp_path) as (ours, own):
        with desktop.terminal("in between") as between:
            desktop.focus(target)
            await ours.do("type keep")
            oops = await ours.do("type oops")
            # Sayso's window lies in front of another one, and is worked there by hand with keys and mouse.
            desktop.focus(between.window)
            desktop.focus(own)
            left, top, _, _ = desktop.geometry(own)
            desktop.xdotool("mousemove", left + 30, top + 30, "click", 1, "key", "h")
            assert oops.undo is not None
            undone = await ours.performer.undo(oops.undo)

            have_the_keyboard(desktop, own)
            assert between.output.read_bytes() == b""
        assert undone.receipt is Receipt.SENT
        assert undone.detail == "4 characters removed by backspaces in lines"
        desktop.focus(target)
        await ours.do("type on")
        desktop.xdotool("key", "Return")
        wait_for(output.read_bytes, "a line")
        assert output.read_bytes() == b"keep on\n"
        await ours.performer.close()


async def test_undo_in_our_own_window_takes_nothing_that_was_typed_by_hand_since(
    hands: Hands, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    with line_reader(desktop, tmp_path) as (target, output), own_window(hands, tmp_path) as (ours, own):
        desktop.focus(target)
        typed = await ours.do("type stays")
        desktop.xdotool("key", "h", "i", "alt+Tab")
        have_the_keyboard(desktop, own)
        # A move of the mouse hides nothing of it.
        desktop.xdotool("mousemove", 400, 300)
        assert typed.undo is not None
        with pytest.raises(ActionError) as refused:
            await ours.performer.undo(typed.undo)

        assert refused.value.code == "used_by_hand"
        have_the_keyboard(desktop, own)
        desktop.focus(target)
        desktop.xdotool("key", "Return")
        wait_for(output.read_bytes, "a line")
        assert output.read_bytes() == b"stayshi\n"
        await ours.performer.close()


async def test_what_was_typed_last_in_each_window_can_be_undone_and_what_came_before_it_only_then(
    hands: Hands, desktop: VirtualDesktop, terminal: Terminal, tmp_path: Path
) -> None:
    with own_window(hands, tmp_path) as (ours, own):
        desktop.focus(terminal.window)
        first, second = [(await ours.do(f"type {text}")).undo for text in ("one", "two")]
        with desktop.terminal("other window") as other:
            third = (await ours.do("type three")).undo
            desktop.focus(own)
            assert first is not None
            assert second is not None
            with pytest.raises(ActionError) as early:
                await ours.performer.undo(first)
            assert early.value.code == "typed_since"
            await ours.performer.undo(second)
            await ours.performer.undo(first)
            wait_for(lambda: len(terminal.output.read_bytes()) == 2 * len("one two"), "the backspaces")
            assert other.output.read_bytes() == b"three"
        desktop.wait_until_closed(other.window)
        assert third is not None
        with pytest.raises(ActionError) as gone:
            await ours.performer.undo(third)
        assert gone.value.code == "used_by_hand"
        assert "window is gone" in str(gone.value)
        await ours.performer.close()


def copy(desktop: VirtualDesktop, text: str) -> None:
    command = ["xclip", "-selection", "clipboard", "-in"]
    silent = subprocess.DEVNULL  # It goes on in the background and would keep a pipe open.
    subprocess.run(command, input=text.encode(), env=desktop.environment, stdout=silent, timeout=10, check=True)
    wait_for_clipboard(desktop, text)


@contextmanager
def silent_owner(desktop: VirtualDesktop) -> Iterator[Callable[[], bool]]:
    """A program that owns the clipboard and answers nobody; the function tells whether it still owns it."""
    connection = xcffib.connect(display=desktop.display)
    try:
        window, root = connection.generate_id(), connection.get_setup().roots[0].root
        connection.core.CreateWindow(0, window, root, 0, 0, 1, 1, 0, WindowClass.InputOnly, 0, 0, [])
        clipboard = connection.core.InternAtom(False, 9, "CLIPBOARD").reply().atom
        connection.core.SetSelectionOwner(window, clipboard, 0, is_checked=True).check()
        yield lambda: connection.core.GetSelectionOwner(clipboard).reply().owner == window
    finally:
        connection.disconnect()
