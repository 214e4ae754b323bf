"""Keys and text through XTEST: real key events, by the keyboard's real mapping. One worker thread at a time.

Presses and releases that belong together leave in one write, so that no modifier stays down even if this process dies
between them. While text is typed, Caps Lock and a second layout group are set aside and put back afterwards.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import xcffib
import xcffib.screensaver
import xcffib.xtest
from xcffib.xproto import GrabMode, GrabStatus, ModMask, Time

from sayso.app.actions.desktop.base import Chord, check
from sayso.app.actions.desktop.keymap import Keymap, Stroke, borrowed, character_keysym, segments
from sayso.app.actions.desktop.x11_connection import X11Connection
from sayso.app.actions.errors import ActionError

_PRESS, _RELEASE = 2, 3
_MODIFIER_KEYS = {"control": "Control_L", "shift": "Shift_L", "alt": "Alt_L", "super": "Super_L"}
_HELD = int(ModMask.Shift | ModMask.Control | ModMask._1 | ModMask._3 | ModMask._4 | ModMask._5)
_CHUNK = 16
"""Characters sent between two looks at which window has the keyboard."""
_HELD_WAIT_S = 2.0
_FOCUS_WAIT_S = 3.0
"""A window manager that looks at a changed keyboard gives the keyboard to a new window only afterwards."""


class X11Keyboard:
    """Presses keys. ``in_front`` tells whether the pinned window still has the keyboard."""

    def __init__(self, connection: X11Connection) -> None:
        self._x = connection

    def press(self, chord: Chord, times: int, in_front: Callable[[], bool], halt: threading.Event) -> None:
        """Press a chord ``times`` times; raises for a key that this keyboard lacks."""
        with self._x.calls():
            keymap = self._keymap()
            keys = [self._modifier(keymap, name) for name in chord.modifiers]
            stroke = keymap.key(chord.key)
            if stroke is None:
                raise ActionError("no_such_key", f"This keyboard has no key “{chord.title}”.")
            if stroke.shift and "shift" not in chord.modifiers:
                keys.append(self._modifier(keymap, "shift"))
            self.wait_for_hands_off(halt, for_text=False)
            self._wait_until(in_front, halt)
            with self._own_locks():
                for _ in range(times):
                    check(halt)
                    self._require(in_front)
                    self._send([*keys, stroke.keycode])
                    self._x.sync()

    def type_text(
        self, text: str, in_front: Callable[[], bool], handled: Callable[[], None], halt: threading.Event
    ) -> None:
        """Type every character of ``text``; stops with an error when the window loses the keyboard.

        ``handled`` returns when the application has handled the keys that it was sent.
        """
        with self._x.calls():
            keymap = self._keymap()
            spare = keymap.spare()
            if not spare and borrowed(text, keymap, (0,)):
                raise ActionError(
                    "no_spare_key", "The keyboard layout lacks a character of this text and has no free key."
                )
            self.wait_for_hands_off(halt)
            self._wait_until(in_front, halt)
            with self._own_locks(), self._borrowing(keymap.width, handled) as lend:
                for piece in segments(text, keymap, len(spare)):
                    borrow = borrowed(piece, keymap, spare)
                    lend(borrow)
                    self._type_piece(piece, keymap, borrow, in_front, halt)

    def has_keys_for(self, text: str) -> bool:
        """Whether the layout has every character, with shift or without."""
        with self._x.calls():
            keymap = self._keymap()
            return all(keymap.stroke(character_keysym(character)) is not None for character in text)

    def wait_for_hands_off(self, halt: threading.Event, *, for_text: bool = True) -> None:
        """Wait until no modifier is held by hand: with one, typed text would be shortcuts.

        For text no program may have taken the keyboard for itself either, since it would get the keys instead of the
        window. Single keys are often meant for such a program: an open menu.
        """
        until = time.monotonic() + _HELD_WAIT_S
        with self._x.calls():
            while held := bool(self._x.keyboard_state().baseMods & _HELD) or (for_text and not self._is_free()):
                check(halt)
                if time.monotonic() > until:
                    break
                halt.wait(0.02)
            if not held:
                return
            if self._x.keyboard_state().baseMods & _HELD:
                raise ActionError("modifier_held", "A modifier key is held down. Let go of it and say it again.")
        raise ActionError("keyboard_taken", "Another program has the keyboard: a locked screen, or an open menu.")

    def _is_free(self) -> bool:
        """Whether no program has grabbed the keyboard: only then we can, for a moment."""
        with self._x.calls() as connection:
            reply = connection.core.GrabKeyboard(
                *(True, self._x.root, Time.CurrentTime, GrabMode.Async, GrabMode.Async)
            ).reply()
            if reply.status == GrabStatus.Success:
                connection.core.UngrabKeyboard(Time.CurrentTime)
            return bool(reply.status == GrabStatus.Success)

    def input_used(self) -> float | None:
        """The last use of any input device, from the screen saver's clock; None where the server has none."""
        with self._x.calls() as connection:
            try:
                saver = connection(xcffib.screensaver.key)
            except KeyError:
                return None
            idle_ms = int(saver.QueryInfo(self._x.root).reply().ms_since_user_input)
            return time.monotonic() - idle_ms / 1000

    def _type_piece(
        self,
        piece: str,
        keymap: Keymap,
        borrow: dict[int, int],
        in_front: Callable[[], bool],
        halt: threading.Event,
    ) -> None:
        shift = self._modifier(keymap, "shift")
        for at in range(0, len(piece), _CHUNK):
            check(halt)
            self._require(in_front)
            for character in piece[at : at + _CHUNK]:
                keysym = character_keysym(character)
                stroke = Stroke(borrow[keysym]) if keysym in borrow else keymap.stroke(keysym)
                if stroke is None:
                    raise ActionError("no_such_key", "The keyboard layout lacks a character of this text.")
                self._queue([shift, stroke.keycode] if stroke.shift else [stroke.keycode])
            self._x.sync()

    def _send(self, keycodes: list[int]) -> None:
        self._queue(keycodes)
        self._x.flush()

    def _queue(self, keycodes: list[int]) -> None:
        """Queue the presses in order and the releases in reverse; they leave together at the next flush."""
        with self._x.calls() as connection:
            xtest = connection(xcffib.xtest.key)
            for keycode in keycodes:
                xtest.FakeInput(_PRESS, keycode, 0, 0, 0, 0, 0)
            for keycode in reversed(keycodes):
                xtest.FakeInput(_RELEASE, keycode, 0, 0, 0, 0, 0)

    def _keymap(self) -> Keymap:
        with self._x.calls() as connection:
            setup = connection.get_setup()
            first, count = setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
            reply = connection.core.GetKeyboardMapping(first, count).reply()
            return Keymap(first, reply.keysyms_per_keycode, tuple(reply.keysyms))

    def _modifier(self, keymap: Keymap, name: str) -> int:
        stroke = keymap.key(_MODIFIER_KEYS[name])
        if stroke is None:
            raise ActionError("no_such_key", f"This keyboard has no {name} key.")
        return stroke.keycode

    @contextlib.contextmanager
    def _own_locks(self) -> Iterator[None]:
        """Caps Lock off and the first layout group for the time being."""
        state = self._x.keyboard_state()
        caps = int(state.lockedMods) & int(ModMask.Lock)
        group = int(state.lockedGroup)
        if not caps and not group:
            yield
            return
        self._x.lock(int(ModMask.Lock), 0, 0)
        try:
            yield
        finally:
            self._x.lock(int(ModMask.Lock), caps, group)
            self._x.sync()

    @contextlib.contextmanager
    def _borrowing(self, width: int, handled: Callable[[], None]) -> Iterator[Callable[[dict[int, int]], None]]:
        """A function that gives spare keycodes a meaning (keysym → keycode); they have none again afterwards.

        Every changed key makes every program look at the keyboard anew, so no more keys are changed than must be, and
        applications get time before a key changes again: they look it up when they come to its press.
        """
        lent: dict[int, int] = {}

        def lend(borrow: dict[int, int]) -> None:
            if lent and borrow:
                handled()
            changed = {keycode: keysym for keysym, keycode in borrow.items()}
            lent.update(changed)
            self._map(changed, width)

        try:
            yield lend
        finally:
            if lent:
                try:
                    handled()
                finally:
                    self._map(dict.fromkeys(lent, 0), width)

    def _map(self, keys: dict[int, int], width: int) -> None:
        with self._x.calls() as connection:
            for keycode, keysym in keys.items():
                # The same keysym on every level, so that neither group nor shift changes it.
                connection.core.ChangeKeyboardMapping(1, keycode, width, [keysym] * width)
            if keys:
                self._x.sync()

    def _wait_until(self, in_front: Callable[[], bool], halt: threading.Event) -> None:
        """Give a window that was just brought forward a moment to get the keyboard."""
        until = time.monotonic() + _FOCUS_WAIT_S
        while not in_front() and time.monotonic() < until:
            check(halt)
            halt.wait(0.02)

    def _require(self, in_front: Callable[[], bool]) -> None:
        if not in_front():
            raise ActionError(
                "window_changed", "Another window came to the front, so typing stopped. Go back to it and say it again."
            )
