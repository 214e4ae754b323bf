"""Lending the clipboard: only the program that was told to paste ends the loan, however late it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from bounded import wait_for
from clipboard import on_clipboard, wait_for_clipboard
from virtual_desktop import Terminal, VirtualDesktop

from sayso.app.actions import ActionError
from sayso.app.actions.desktop import Backend, Chord, detect
from sayso.app.actions.desktop.x11_clipboard import X11Clipboard

pytestmark = pytest.mark.desktop
GO_ON = threading.Event()
PASTE = Chord(("shift",), "Insert")


@pytest.fixture
def clipboard(desktop: VirtualDesktop) -> Iterator[X11Clipboard]:
    lender = X11Clipboard(desktop.display)
    yield lender
    lender.close()


@pytest.fixture
def backend(desktop: VirtualDesktop) -> Iterator[Backend]:
    found = detect({"DISPLAY": desktop.display})
    yield found
    found.disconnect()


def test_a_reader_that_was_not_told_to_paste_does_not_end_the_loan(
    desktop: VirtualDesktop, clipboard: X11Clipboard, backend: Backend, terminal: Terminal
) -> None:
    before = X11Clipboard(desktop.display)
    before.copy("before", GO_ON)
    loan = clipboard.lend("für dich", terminal.window.id, GO_ON, primary=True)
    loan.sent = True

    # What a clipboard manager does, as soon as something new is there.
    assert on_clipboard(desktop) == "für dich".encode()
    assert not clipboard.taken(loan, 0.5, GO_ON)
    assert on_clipboard(desktop) == "für dich".encode()

    backend.press(PASTE, 1, terminal.window.id, GO_ON)
    assert clipboard.taken(loan, 15, GO_ON)
    wait_for(lambda: terminal.output.read_bytes() == "für dich".encode(), "the text in the terminal")
    wait_for_clipboard(desktop, "before")
    before.close()


def test_a_loan_that_is_not_wanted_any_more_ends_at_once(
    desktop: VirtualDesktop, clipboard: X11Clipboard, terminal: Terminal
) -> None:
    clipboard.copy("before", GO_ON)
    clipboard.lend("für dich", terminal.window.id, GO_ON, primary=True)
    assert on_clipboard(desktop, selection="primary") == "für dich".encode()

    clipboard.give_back()

    assert on_clipboard(desktop) == b"before"
    assert on_clipboard(desktop, selection="primary") is None


def test_what_comes_in_many_pieces_is_kept_whole(
    desktop: VirtualDesktop, clipboard: X11Clipboard, terminal: Terminal
) -> None:
    long = "".join(f"{number} ß " for number in range(30_000))
    owner = X11Clipboard(desktop.display)
    owner.copy(long, GO_ON)

    clipboard.lend("short", terminal.window.id, GO_ON, primary=False)
    owner.close()
    clipboard.give_back()

    assert on_clipboard(desktop) == long.encode()


def test_a_cancelled_wait_ends_at_once(clipboard: X11Clipboard, terminal: Terminal) -> None:
    halt = threading.Event()
    loan = clipboard.lend("für dich", terminal.window.id, GO_ON, primary=False)
    halt.set()

    with pytest.raises(ActionError) as refused:
        clipboard.taken(loan, 60, halt)

    assert refused.value.code == "cancelled"


def test_closing_twice_or_before_any_use_is_nothing_special(desktop: VirtualDesktop) -> None:
    clipboard = X11Clipboard(desktop.display)
    clipboard.close()
    clipboard.copy("x", GO_ON)
    clipboard.close()
    clipboard.close()
