"""Keys on a real X display: pressed with XTEST while another program has the keyboard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest
import xcffib
import xcffib.xproto
from virtual_desktop import VirtualDesktop, virtual_desktop
from xcffib import keysymdef

from sayso.app.hotkeys import choose
from sayso.app.hotkeys.base import Escaped, HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.shortcut import Shortcut
from sayso.app.hotkeys.x11 import X11Hotkeys

pytestmark = pytest.mark.desktop

TALK = Shortcut(("Ctrl", "Alt"), "Space")
BREAK = Shortcut((), "Pause")


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with virtual_desktop(sound=False, session_bus=False) as started:
        yield started


@dataclass
class Keys:
    desktop: VirtualDesktop
    events: list[KeyEvent] = field(default_factory=list)
    hotkeys: X11Hotkeys = field(init=False)

    def __post_init__(self) -> None:
        self.hotkeys = X11Hotkeys(self.desktop.display, self.events.append)

    async def until(self, holds: Callable[[], bool]) -> None:
        for _ in range(1500):
            if holds():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"waited in vain; told so far: {self.events}")

    async def told(self, *events: KeyEvent) -> None:
        """Return when exactly these events were told."""
        await self.until(lambda: len(self.events) >= len(events))
        assert self.events == list(events)


@pytest.fixture
async def keys(desktop: VirtualDesktop) -> AsyncIterator[Keys]:
    made = Keys(desktop)
    yield made
    made.hotkeys.close()


async def test_a_key_is_told_while_another_program_has_the_keyboard_and_types_nothing_there(keys: Keys) -> None:
    await keys.hotkeys.use(TALK, "Talk")
    with keys.desktop.terminal() as terminal:
        keys.desktop.xdotool("keydown", "ctrl", "keydown", "alt", "keydown", "space")
        await keys.told(Pressed())
        keys.desktop.xdotool("keyup", "space", "keyup", "alt", "keyup", "ctrl")
        await keys.told(Pressed(), Released())
        keys.desktop.xdotool("type", "on")
        await asyncio.to_thread(terminal.wait_for_text, "on")
        assert terminal.text == "on"


async def test_a_key_that_repeats_is_pressed_once(keys: Keys) -> None:
    await keys.hotkeys.use(BREAK, "Talk")
    keys.desktop.xdotool("keydown", "Pause", "sleep", "0.9")
    keys.desktop.xdotool("keyup", "Pause")
    await keys.told(Pressed(), Released())


@pytest.mark.parametrize("lock", ["Caps_Lock", "Num_Lock"])
async def test_the_locks_do_not_matter(keys: Keys, lock: str) -> None:
    await keys.hotkeys.use(TALK, "Talk")
    keys.desktop.xdotool("key", lock)
    try:
        keys.desktop.xdotool("key", "ctrl+alt+space")
        await keys.told(Pressed(), Released())
    finally:
        keys.desktop.xdotool("key", lock)


async def test_another_modifier_does_matter(keys: Keys) -> None:
    await keys.hotkeys.use(TALK, "Talk")
    keys.desktop.xdotool("key", "ctrl+alt+shift+space", "key", "ctrl+space", "key", "ctrl+alt+space")
    await keys.told(Pressed(), Released())


async def test_escape_is_told_while_the_key_is_held_and_left_to_others_else(keys: Keys) -> None:
    await keys.hotkeys.use(BREAK, "Talk")
    keys.desktop.xdotool("key", "Escape", "keydown", "Pause", "key", "Escape", "keyup", "Pause")
    await keys.told(Pressed(), Escaped(), Released())


async def test_a_key_that_another_program_has_taken_is_told_and_another_can_be_chosen(keys: Keys) -> None:
    other = Keys(keys.desktop)
    await other.hotkeys.use(TALK, "Talk")
    with pytest.raises(HotkeyError, match="taken “Ctrl\\+Alt\\+Space” already") as told:
        await keys.hotkeys.use(TALK, "Talk")
    assert told.value.code == "key_taken"
    await keys.hotkeys.use(BREAK, "Talk")
    other.hotkeys.close()
    keys.desktop.xdotool("key", "Pause")
    await keys.told(Pressed(), Released())


async def test_a_refused_key_leaves_nothing_taken(keys: Keys) -> None:
    other = Keys(keys.desktop)
    connection = xcffib.connect(display=keys.desktop.display)
    root = connection.get_setup().roots[0].root
    mode = xcffib.xproto.GrabMode.Async
    pause = 127
    lock = xcffib.xproto.ModMask.Lock
    connection.core.GrabKey(False, root, lock, pause, mode, mode, is_checked=True).check()
    with pytest.raises(HotkeyError):
        await keys.hotkeys.use(BREAK, "Talk")
    connection.core.UngrabKey(pause, root, lock)
    connection.core.GetInputFocus().reply()
    await other.hotkeys.use(BREAK, "Talk")
    other.hotkeys.close()
    connection.disconnect()


async def test_a_key_is_free_again_when_it_is_given_back(keys: Keys) -> None:
    other = Keys(keys.desktop)
    await other.hotkeys.use(TALK, "Talk")
    await other.hotkeys.use(None, "")
    await keys.hotkeys.use(TALK, "Talk")
    keys.hotkeys.close()
    await other.hotkeys.use(TALK, "Talk")
    other.hotkeys.close()


async def test_a_key_that_the_keyboard_lacks_is_told(keys: Keys) -> None:
    with pytest.raises(HotkeyError, match="has no key “F35”"):
        await keys.hotkeys.use(Shortcut((), "F35"), "Talk")


async def test_a_key_follows_its_place_when_the_keyboard_mapping_changes(keys: Keys) -> None:
    connection = xcffib.connect(display=keys.desktop.display)
    setup = connection.get_setup()
    count = setup.max_keycode - setup.min_keycode + 1
    reply = connection.core.GetKeyboardMapping(setup.min_keycode, count).reply()
    width, keysyms = reply.keysyms_per_keycode, list(reply.keysyms)
    at = keysyms.index(keysymdef.XK_Pause) // width
    spare = next(place for place in range(count - 1, 0, -1) if not any(keysyms[place * width : (place + 1) * width]))
    await keys.hotkeys.use(BREAK, "Talk")

    def give(place: int, keysym: int) -> None:
        values = [keysym] + [0] * (width - 1)
        connection.core.ChangeKeyboardMapping(1, setup.min_keycode + place, width, values, is_checked=True).check()

    before = keysyms[at * width : (at + 1) * width]
    try:
        give(at, 0)
        await keys.until(lambda: [type(event) for event in keys.events] == [KeysLost])
        give(spare, keysymdef.XK_Pause)
        await keys.until(lambda: keys.events[1:] == [KeysFound()])
        keys.desktop.xdotool("key", str(setup.min_keycode + spare))
        await keys.until(lambda: keys.events[2:] == [Pressed(), Released()])
    finally:
        give(spare, 0)
        connection.core.ChangeKeyboardMapping(1, setup.min_keycode + at, width, before, is_checked=True).check()
        connection.disconnect()


async def test_a_key_that_goes_while_it_is_held_ends_the_hold(keys: Keys) -> None:
    await keys.hotkeys.use(BREAK, "Talk")
    keys.desktop.xdotool("keydown", "Pause")
    await keys.told(Pressed())
    await keys.hotkeys.use(None, "")
    assert keys.events == [Pressed(), Released(seen=False)]
    keys.desktop.xdotool("keyup", "Pause")


async def test_a_key_that_is_down_already_when_it_is_taken_counts_only_when_it_is_pressed_again(keys: Keys) -> None:
    keys.desktop.xdotool("keydown", "Pause")
    await keys.hotkeys.use(BREAK, "Talk")
    keys.desktop.xdotool("sleep", "1.2", "keyup", "Pause")
    await keys.until(lambda: not keys.hotkeys._ignored)
    assert keys.events == []
    keys.desktop.xdotool("key", "Pause")
    await keys.told(Pressed(), Released())


async def test_a_release_that_is_not_sent_is_found_by_looking(keys: Keys) -> None:
    await keys.hotkeys.use(BREAK, "Talk")
    keys.desktop.xdotool("keydown", "Pause")
    await keys.told(Pressed())
    # What a screen lock or a change of the console does: the keyboard is no longer ours, and the key goes up.
    keys.hotkeys._connection.core.UngrabKeyboard(0)
    keys.hotkeys._connection.core.UngrabKey(0, keys.hotkeys._root, xcffib.xproto.ModMask.Any)
    keys.hotkeys._connection.core.GetInputFocus().reply()
    keys.desktop.xdotool("keyup", "Pause")
    await keys.told(Pressed(), Released(seen=False))


async def test_a_display_that_ends_is_told() -> None:
    with virtual_desktop(sound=False, session_bus=False, window_manager=False) as short:
        keys = Keys(short)
        await keys.hotkeys.use(BREAK, "Talk")
    await keys.until(lambda: bool(keys.events))
    assert isinstance(keys.events[0], KeysLost)
    with pytest.raises(HotkeyError, match="does not answer"):
        await keys.hotkeys.use(BREAK, "Talk")


async def test_without_a_display_the_commands_are_named() -> None:
    hotkeys = choose({}, [].append)
    assert await hotkeys.use(None, "") == ""
    with pytest.raises(HotkeyError, match="sayso toggle"):
        await hotkeys.use(TALK, "Talk")
    hotkeys.close()
