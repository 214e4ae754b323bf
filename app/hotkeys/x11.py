"""A key on X11: a passive grab, with every state of Caps Lock and Num Lock. Runs on the event loop.

The connection is one of its own, so that the server gives the key back when this process ends, however it ends. While
the key is held the server sends all keys here: Esc is told, others do nothing. Whether a key is still down is asked of
the server: a release that is not sent (the screen was locked, the keyboard unplugged) is found within a quarter of a
second. The releases of auto-repeat are told from real ones by what follows them: with XKB's detectable auto-repeat they
would not come, but a client that uses XKB is not told of every change of the keyboard's mapping.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import xcffib
import xcffib.xproto
from xcffib.xproto import GrabMode, ModMask

from sayso.app.actions.desktop.keymap import Keymap, Stroke, named_keysym
from sayso.app.hotkeys.base import BY_COMMAND, Escaped, HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.shortcut import Shortcut

_LOOK_EVERY_S = 0.25
_LOOK_SOON_S = 0.03
"""How often a key that was just chosen is looked at: its release is not sent, and its next press counts."""
_MAPPED_AFTER_S = 0.1
"""A new layout comes as a row of changes; what lies between them is no layout."""
_POINTER_MAPPING = 2
_MODIFIERS = {"Ctrl": ModMask.Control, "Shift": ModMask.Shift}
_FOUND_BY_KEY = {"Alt": ("Alt_L", "Meta_L"), "Super": ("Super_L", "Super_R")}
_LOCKS = ("Num_Lock", "Scroll_Lock")


class X11Hotkeys:
    """See ``base.Hotkeys``."""

    tells_escape = True

    def __init__(self, display: str, on_event: Callable[[KeyEvent], None]) -> None:
        self._display = display
        self._on_event = on_event
        self._connection: Any = None
        self._shortcut: Shortcut | None = None
        self._grabbed: tuple[int, tuple[int, ...]] | None = None
        self._held = False
        self._ignored = False
        self._look: asyncio.TimerHandle | None = None
        self._mapping: asyncio.TimerHandle | None = None
        self._descriptor = -1
        self._released_at: int | None = None

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        try:
            self._let_go()
            self._shortcut = shortcut
            if shortcut is not None:
                self._grab(shortcut)
        except xcffib.ConnectionException as error:
            self._drop()
            raise HotkeyError("display_lost", f"The display {self._display} does not answer. {BY_COMMAND}") from error
        return ""

    def close(self) -> None:
        self._drop()

    def _open(self) -> Any:
        if self._connection is None:
            connection: Any = xcffib.Connection(display=self._display)
            self._connection, self._descriptor = connection, connection.get_file_descriptor()
            asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        return self._connection

    @property
    def _root(self) -> int:
        connection = self._open()
        return int(connection.get_setup().roots[connection.pref_screen].root)

    def _grab(self, shortcut: Shortcut) -> None:
        """Take the key, or raise HotkeyError and hold nothing."""
        connection = self._open()
        keymap = _keymap(connection)
        stroke = _stroke(keymap, shortcut)
        if stroke is None:
            raise HotkeyError("no_such_key", f"This keyboard has no key “{shortcut.text}”. Choose another one.")
        masks = _masks(shortcut, stroke, _held_by(connection, keymap))
        self._grabbed = stroke.keycode, masks
        try:
            for mask in masks:
                asynchronous = GrabMode.Async
                request = connection.core.GrabKey(
                    False, self._root, mask, stroke.keycode, asynchronous, asynchronous, is_checked=True
                )
                request.check()
            self._ignore_until_up()
        except xcffib.xproto.AccessError as error:
            self._let_go()
            raise HotkeyError(
                "key_taken", f"Another program has taken “{shortcut.text}” already. Choose another key."
            ) from error
        finally:
            # Replies that were waited for may have brought events along, which no longer make the socket readable.
            asyncio.get_running_loop().call_soon(self._read)

    def _let_go(self) -> None:
        grabbed, self._grabbed = self._grabbed, None
        if grabbed is not None and self._connection is not None:
            keycode, masks = grabbed
            for mask in masks:
                self._connection.core.UngrabKey(keycode, self._root, mask)
            self._connection.flush()
        self._up(seen=False)

    def _drop(self) -> None:
        self._up(seen=False)
        self._grabbed = None
        if self._mapping is not None:
            self._mapping.cancel()
        connection, self._connection = self._connection, None
        if connection is not None:
            # Asked for its descriptor, a connection that was lost raises instead.
            asyncio.get_running_loop().remove_reader(self._descriptor)
            with contextlib.suppress(xcffib.XcffibException):
                connection.disconnect()

    def _read(self) -> None:
        try:
            while self._connection is not None and (event := self._connection.poll_for_event()) is not None:
                self._take(event)
            if self._released_at is not None and not self._is_down():
                self._up(seen=True)
            self._released_at = None
        except xcffib.ConnectionException:
            self._drop()
            self._on_event(KeysLost(f"The display {self._display} was lost, and the key with it."))

    def _take(self, event: Any) -> None:
        match event:
            case xcffib.xproto.KeyPressEvent():
                self._key_down(event.detail, event.time)
            case xcffib.xproto.KeyReleaseEvent() if self._held and self._grabbed and event.detail == self._grabbed[0]:
                # A key that repeats goes up and down in the same moment; what comes next tells.
                self._released_at = event.time
            case xcffib.xproto.MappingNotifyEvent() if event.request != _POINTER_MAPPING:
                if self._mapping is not None:
                    self._mapping.cancel()
                self._mapping = asyncio.get_running_loop().call_later(_MAPPED_AFTER_S, self._take_again)

    def _key_down(self, keycode: int, at: int) -> None:
        if self._grabbed is None:
            return
        released, self._released_at = self._released_at, None
        if released is not None and (keycode, at) != (self._grabbed[0], released):
            self._up(seen=True)
        if keycode != self._grabbed[0]:
            stroke = _keymap(self._connection).key("Escape")
            if self._held and stroke is not None and keycode == stroke.keycode:
                self._on_event(Escaped())
        elif not self._held and not self._ignored:
            self._held = True
            self._look_later()
            self._on_event(Pressed())

    def _up(self, *, seen: bool) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None
        self._ignored = False
        if self._held:
            self._held = False
            self._on_event(Released(seen))

    def _ignore_until_up(self) -> None:
        """A key that was just chosen by pressing it is still down, and its repeats mean nothing."""
        self._ignored = self._is_down()
        if self._ignored:
            self._look_later()

    def _look_later(self) -> None:
        pause_s = _LOOK_SOON_S if self._ignored else _LOOK_EVERY_S
        self._look = asyncio.get_running_loop().call_later(pause_s, self._look_now)

    def _look_now(self) -> None:
        try:
            if self._is_down():
                self._look_later()
            else:
                self._read()  # The release may only be waiting to be read.
                self._up(seen=False)
        except xcffib.ConnectionException:
            self._read()

    def _is_down(self) -> bool:
        if self._grabbed is None or self._connection is None:
            return False
        keycode = self._grabbed[0]
        keys = self._connection.core.QueryKeymap().reply().keys
        asyncio.get_running_loop().call_soon(self._read)
        return bool(keys[keycode // 8] >> keycode % 8 & 1)

    def _take_again(self) -> None:
        """The keyboard's mapping has changed: the key may be at another place now, or nowhere."""
        shortcut, lost = self._shortcut, self._grabbed is None
        if shortcut is None or self._connection is None:
            return
        try:
            keymap = _keymap(self._connection)
            stroke = _stroke(keymap, shortcut)
            if (
                stroke
                and (stroke.keycode, _masks(shortcut, stroke, _held_by(self._connection, keymap))) == self._grabbed
            ):
                return
            self._let_go()
            self._grab(shortcut)
            if lost:
                self._on_event(KeysFound())
        except HotkeyError as error:
            self._on_event(KeysLost(str(error)))
        except xcffib.ConnectionException:
            self._read()


def _keymap(connection: Any) -> Keymap:
    setup = connection.get_setup()
    first, count = setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    reply = connection.core.GetKeyboardMapping(first, count).reply()
    return Keymap(first, reply.keysyms_per_keycode, tuple(reply.keysyms))


def _stroke(keymap: Keymap, shortcut: Shortcut) -> Stroke | None:
    """Where the key is: on the first layout, else on any other."""
    keysym = named_keysym(shortcut.keysym)
    if keysym is None:
        return None
    found = keymap.stroke(keysym)
    if found is None and keysym in keymap.keysyms:
        return Stroke(keymap.first + keymap.keysyms.index(keysym) // keymap.width)
    return found


def _held_by(connection: Any, keymap: Keymap) -> dict[str, int]:
    """The masks of the modifier keys by their names: Num Lock and Super lie where the layout has put them."""
    reply = connection.core.GetModifierMapping().reply()
    width = reply.keycodes_per_modifier
    names = [name for keys in _FOUND_BY_KEY.values() for name in keys] + list(_LOCKS)
    found: dict[str, int] = {}
    for name in names:
        stroke = keymap.key(name)
        places = [at for at, code in enumerate(reply.keycodes) if stroke is not None and code == stroke.keycode]
        if places:
            found[name] = 1 << (places[0] // width)
    return found


def _masks(shortcut: Shortcut, stroke: Stroke, held_by: dict[str, int]) -> tuple[int, ...]:
    """The shortcut's modifiers with every combination of the locks, which must not matter."""
    names = {*shortcut.modifiers, "Shift"} if stroke.shift else set(shortcut.modifiers)
    mask = 0
    for name in names:
        usual = ModMask._1 if name == "Alt" else ModMask._4
        mask |= _MODIFIERS.get(name) or next(
            (held_by[key] for key in _FOUND_BY_KEY[name] if key in held_by), int(usual)
        )
    locks = {int(ModMask.Lock), *(held_by[name] for name in _LOCKS if name in held_by)} - {0}
    combined = itertools.chain.from_iterable(itertools.combinations(sorted(locks), n) for n in range(len(locks) + 1))
    return tuple(dict.fromkeys(mask | sum(chosen) for chosen in combined))
