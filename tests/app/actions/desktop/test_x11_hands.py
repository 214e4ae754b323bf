"""Which windows were used by hand, on a real X server with a real window manager."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import xcffib
from virtual_desktop import Terminal, VirtualDesktop
from xcffib.xproto import GrabMode

from sayso.app.actions.desktop.x11_hands import X11Hands

pytestmark = pytest.mark.desktop
GO_ON = threading.Event()
F9 = 75
"""Its keycode on every PC keyboard."""


@pytest.fixture
def hands(desktop: VirtualDesktop) -> Iterator[X11Hands]:
    made = X11Hands(desktop.display)
    yield made
    made.close()


@pytest.fixture
def terminal(desktop: VirtualDesktop) -> Iterator[Terminal]:
    with desktop.terminal() as opened:
        yield opened


def test_keys_and_buttons_in_other_windows_keys_of_the_window_manager_and_the_wheel_do_not_count(
    desktop: VirtualDesktop, hands: X11Hands, terminal: Terminal
) -> None:
    with desktop.terminal("other window") as other:
        desktop.focus(terminal.window)
        hands.watch(terminal.window.id, GO_ON)
        left, top, _, height = desktop.geometry(terminal.window)

        desktop.xdotool("key", "shift")
        desktop.xdotool("mousemove", left + 20, top + 20, "click", 4)
        desktop.xdotool("mousemove", left + 20, top + height + 300, "click", 1)
        desktop.focus(terminal.window)
        desktop.xdotool("key", "alt+Tab")
        active = desktop.active_window()
        assert active is not None
        assert active.id == other.window.id
        desktop.xdotool("key", "h")
        desktop.focus(terminal.window)

        assert hands.untouched(terminal.window.id, GO_ON)


def test_a_key_that_a_program_has_taken_everywhere_does_not_count(
    desktop: VirtualDesktop, hands: X11Hands, terminal: Terminal
) -> None:
    connection = xcffib.connect(display=desktop.display)
    try:
        root = connection.get_setup().roots[0].root
        modes = GrabMode.Async, GrabMode.Async
        connection.core.GrabKey(False, root, 0, F9, *modes, is_checked=True).check()
        hands.watch(terminal.window.id, GO_ON)
        desktop.xdotool("key", "F9")
        assert hands.untouched(terminal.window.id, GO_ON)
        # Let go of, it reaches the window again.
        connection.core.UngrabKey(F9, root, 0, is_checked=True).check()
        desktop.xdotool("key", "F9")
        assert not hands.untouched(terminal.window.id, GO_ON)
    finally:
        connection.disconnect()


@pytest.mark.parametrize("use", [("key", "h"), ("key", "alt+h"), ("click", "1")])
def test_a_key_or_a_button_in_the_window_counts(
    desktop: VirtualDesktop, hands: X11Hands, terminal: Terminal, use: tuple[str, ...]
) -> None:
    left, top, _, _ = desktop.geometry(terminal.window)
    desktop.xdotool("mousemove", left + 20, top + 20)
    hands.watch(terminal.window.id, GO_ON)
    desktop.xdotool(*use)

    assert not hands.untouched(terminal.window.id, GO_ON)
    # What programs pressed until then is forgotten when it is watched anew.
    hands.watch(terminal.window.id, GO_ON)
    assert hands.untouched(terminal.window.id, GO_ON)


def test_a_window_that_has_closed_is_not_untouched(desktop: VirtualDesktop, hands: X11Hands) -> None:
    with desktop.terminal("soon gone") as gone:
        hands.watch(gone.window.id, GO_ON)
        assert hands.untouched(gone.window.id, GO_ON)
    desktop.wait_until_closed(gone.window)

    assert not hands.untouched(gone.window.id, GO_ON)


def test_without_a_display_no_window_is_known_to_be_untouched() -> None:
    hands = X11Hands(":63999")
    hands.watch(1, GO_ON)
    assert not hands.untouched(1, GO_ON)
    hands.forget(1)
    hands.close()
