"""The X11 backend on a real X server: with another layout group, without a window manager, without a server."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bounded import child, wait_for
from virtual_desktop import Terminal, VirtualDesktop, virtual_desktop

from sayso.app.actions import ActionError
from sayso.app.actions.desktop import Backend, Chord, detect

pytestmark = pytest.mark.desktop
GO_ON = threading.Event()
SLOW_EDITOR = Path(__file__).parents[3] / "data" / "commands" / "slow_editor.py"


@pytest.fixture
def backend(desktop: VirtualDesktop) -> Iterator[Backend]:
    found = detect({"DISPLAY": desktop.display})
    yield found
    found.disconnect()


@pytest.fixture
def terminal(desktop: VirtualDesktop) -> Iterator[Terminal]:
    with desktop.terminal() as opened:
        yield opened


def set_layouts(desktop: VirtualDesktop, layouts: str) -> None:
    subprocess.run(["setxkbmap", "-display", desktop.display, "-layout", layouts], check=True, timeout=10)


@pytest.mark.parametrize("layout", ["de", "ru"])
def test_text_arrives_with_any_layout(
    desktop: VirtualDesktop, backend: Backend, terminal: Terminal, layout: str
) -> None:
    text = "Zyq {[1]} ^ß"
    set_layouts(desktop, layout)
    try:
        backend.type_text(text, terminal.window.id, GO_ON)
        wait_for(lambda: terminal.output.read_bytes() == text.encode(), f"{text!r} with {layout}")
    finally:
        set_layouts(desktop, "us")


def test_text_arrives_while_the_second_layout_is_in_use_and_it_stays_in_use(
    desktop: VirtualDesktop, backend: Backend, terminal: Terminal
) -> None:
    set_layouts(desktop, "us,ru")
    connection = backend._connection  # type: ignore[attr-defined]
    try:
        with connection.calls():
            connection.lock(0, 0, 1)
        backend.type_text("latin", terminal.window.id, GO_ON)
        backend.press(Chord(("control",), "t"), 1, terminal.window.id, GO_ON)

        wait_for(lambda: len(terminal.output.read_bytes()) >= 6, "text of the first layout")
        assert terminal.output.read_bytes() == b"latin\x14"
        assert connection.keyboard_state().group == 1
    finally:
        connection.lock(0, 0, 0)
        connection.sync()
        set_layouts(desktop, "us")


def test_a_busy_application_still_finds_the_characters_that_its_layout_lacks(
    desktop: VirtualDesktop, backend: Backend, tmp_path: Path
) -> None:
    text, output = "5 € für “Zoë”", tmp_path / "shown"
    command = [sys.executable, SLOW_EDITOR, output]
    with child(command, desktop.environment | {"QT_QPA_PLATFORM": "xcb"}, tmp_path / "editor.log"):
        window = desktop.wait_for_window("slow editor")
        desktop.focus(window)
        backend.type_text(text, window.id, GO_ON)

        wait_for(lambda: output.exists() and output.read_text() == text, f"{text!r} in the editor", 15)


def test_more_foreign_characters_than_free_keys_are_typed_in_order() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(21))

    # On a desktop of its own: a window manager is busy for seconds with that many changes of the keyboard.
    with virtual_desktop(sound=False, session_bus=False) as own, own.terminal() as terminal:
        backend = detect({"DISPLAY": own.display})
        backend.type_text(text, terminal.window.id, GO_ON)
        backend.disconnect()

        wait_for(lambda: terminal.output.read_bytes() == text.encode(), "all characters in order")


def test_the_keyboard_mapping_is_as_before_after_typing(
    desktop: VirtualDesktop, backend: Backend, terminal: Terminal
) -> None:
    before = keyboard(desktop)

    backend.type_text("naïve 日本", terminal.window.id, GO_ON)

    wait_for(lambda: terminal.output.read_bytes() == "naïve 日本".encode(), "the characters that the layout lacks")
    assert keyboard(desktop) == before


def test_a_long_text_loses_no_character(backend: Backend, terminal: Terminal) -> None:
    text = " ".join(f"word{number} The quick brown Fox; jumps" for number in range(60))

    backend.type_text(text, terminal.window.id, GO_ON)

    wait_for(lambda: terminal.output.read_bytes() == text.encode(), "the whole text")


def test_cancelled_typing_stops(backend: Backend, terminal: Terminal) -> None:
    text, halt, codes = "x" * 200_000, threading.Event(), list[str]()

    def type_it() -> None:
        try:
            backend.type_text(text, terminal.window.id, halt)
        except ActionError as error:
            codes.append(error.code)

    typing = threading.Thread(target=type_it)
    typing.start()
    wait_for(terminal.output.read_bytes, "the first characters")
    halt.set()
    typing.join(20)

    assert codes == ["cancelled"]
    backend.press(Chord((), "Return"), 1, terminal.window.id, GO_ON)
    wait_for(lambda: terminal.output.read_bytes().endswith(b"\r"), "the key after it")
    assert len(terminal.output.read_bytes()) < len(text)


def keyboard(desktop: VirtualDesktop) -> str:
    """The display's whole keyboard mapping."""
    command = ["xkbcomp", "-xkb", desktop.display, "-"]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout


def test_a_window_that_has_gone_is_told(desktop: VirtualDesktop, backend: Backend) -> None:
    with desktop.terminal() as opened:
        window = opened.window.id
    desktop.wait_until_closed(opened.window)

    for act in (lambda: backend.type_text("x", window, GO_ON), lambda: backend.activate(window, GO_ON)):
        with pytest.raises(ActionError) as refused:
            act()
        assert refused.value.code in ("window_gone", "window_changed", "window_not_shown")


def test_windows_are_listed_from_the_front_with_their_programs(desktop: VirtualDesktop, backend: Backend) -> None:
    with desktop.terminal("behind") as behind, desktop.terminal("in front") as front:
        windows = backend.windows()

        assert [window.title for window in windows] == ["in front", "behind"]
        assert [window.pid for window in windows] == [front.process.pid, behind.process.pid]
        assert {window.application for window in windows} == {"XTerm"}
        assert [window.age for window in windows] == [1, 0]
        active = backend.active_window()
        assert active is not None
        assert active.id == front.window.id


def test_a_cancelled_press_stops_at_once(backend: Backend, terminal: Terminal) -> None:
    halt = threading.Event()
    halt.set()

    with pytest.raises(ActionError) as refused:
        backend.press(Chord((), "a"), 5, terminal.window.id, halt)

    assert refused.value.code == "cancelled"
    assert terminal.output.read_bytes() == b""


def test_without_a_window_manager_windows_cannot_be_reached() -> None:
    with virtual_desktop(sound=False, window_manager=False, session_bus=False) as bare:
        backend = detect({"DISPLAY": bare.display})
        with pytest.raises(ActionError) as refused:
            backend.windows()
        assert refused.value.code == "no_window_manager"
        assert backend.active_window() is None
        backend.disconnect()


def test_a_server_that_ends_is_a_coded_error_and_no_crash() -> None:
    with virtual_desktop(sound=False, session_bus=False) as short:
        backend = detect({"DISPLAY": short.display})
        assert backend.windows() == []
    codes = []
    for _ in range(2):
        with pytest.raises(ActionError) as refused:
            backend.windows()
        codes.append(refused.value.code)

    assert codes == ["display_lost", "display_missing"]
