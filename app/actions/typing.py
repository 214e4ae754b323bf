"""Puts text into the window that is meant, and takes it back. What was inserted stays in memory and is written nowhere.

Text goes to the window in which the speaker began, also when another one is in front by now: who speaks looks at what
they speak to, and the words come seconds later. If that window is gone or cannot be had, the text is on the clipboard
and its receipt says so. One worker thread at a time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from sayso.app.actions.base import Done, Job, Receipt, target_window
from sayso.app.actions.desktop.base import Backend, Chord, InputUse, Window, check
from sayso.app.actions.errors import ActionError
from sayso.app.actions.insertion import SHIFT_INSERT, Plan, Way, backspaces, clean, needs_space, plan
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named

log = logging.getLogger(__name__)

_REMEMBERED = 50
"""Inserted pieces that can be taken back one after another."""
_SAME_USE_S = 0.1
"""Two readings of the time of one use differ by less."""
_PAUSE_S = 0.7
"""Nothing was pressed for so long: keys meant for one window would not reach another that comes to the front now."""
_PAUSE_WAIT_S = 5.0
_BACKSPACE = Chord((), "BackSpace")
_KEPT_ON_CLIPBOARD = frozenset(
    {
        *("no_window", "window_gone", "window_changed", "window_not_shown", "in_use", "no_window_manager"),
        *("modifier_held", "keyboard_taken", "no_such_key", "no_spare_key", "needs_x11", "display_without_xtest"),
    }
)
"""Reasons for which the text is still wanted, but cannot get into its window."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Text that was put into a window and stands, as far as is known, right before its cursor."""

    window: int
    text: str
    receipt: Receipt = Receipt.SENT
    detail: str = ""
    """What came of it, in words for people."""


class Typist:
    """Inserts text, and remembers what, so that it can be taken back.

    ``is_secret`` tells whether a password field of the program with this process number has the keyboard.
    """

    def __init__(self, backend: Backend, own_pid: int, is_secret: Callable[[int], bool] = lambda pid: False) -> None:
        self._backend = backend
        self._own_pid = own_pid
        self._is_secret = is_secret
        self._typed: deque[Typed] = deque(maxlen=_REMEMBERED)
        self._own_use: InputUse | None = None
        """Keyboard and mouse as we left them after typing."""

    def type(self, text: str, pinned: Window | None, halt: threading.Event, *, joined: bool = False) -> Typed:
        """Insert ``text``; ``joined`` puts a space between it and what was inserted before it in the same window.

        Where the window cannot get it, it is on the clipboard, and the receipt says so and why.
        """
        if not text.strip():
            raise ActionError("nothing_to_type", "There is nothing to type in that.")
        try:
            return self._insert(text, pinned, halt, joined)
        except ActionError as error:
            # How much of it arrived is unknown, so nothing before it can be taken back safely either.
            self.forget()
            if error.code not in _KEPT_ON_CLIPBOARD:
                raise
            return self._keep(text, error, halt)

    def _insert(self, text: str, pinned: Window | None, halt: threading.Event, joined: bool) -> Typed:
        window, left = self._reach(pinned, halt)
        try:
            typed = self._insert_into(window, text, halt, joined)
        finally:
            if left is not None:
                self._go_back(left, halt)
        self._own_use = self._backend.input_used()
        return typed

    def _insert_into(self, window: Window, text: str, halt: threading.Event, joined: bool) -> Typed:
        if self._is_secret(window.pid):
            raise ActionError("password_field", "A password field has the keyboard. Passwords are typed by hand.")
        if self._used_by_hand():
            self.forget()
        before = self._typed[-1] if self._typed else None
        wanted = clean(text, window)
        if joined and before is not None and before.window == window.id and needs_space(before.text, wanted):
            wanted = f" {wanted}"
        if not wanted.strip():
            raise ActionError("nothing_to_type", "There is nothing to type in that.")
        typed = self._send(wanted, window, halt)
        if typed.receipt is Receipt.ON_CLIPBOARD:
            self.forget()
        else:
            self._typed.append(typed)
        return typed

    def _go_back(self, left: Window, halt: threading.Event) -> None:
        """Bring the speaker's own window to the front again; where that fails, the text is no less where it belongs."""
        try:
            self._backend.activate(left.id, halt)
        except ActionError as error:
            log.info("the window of before did not come back: %s", error.code)

    def _send(self, text: str, window: Window, halt: threading.Event) -> Typed:
        chosen = plan(text, window, self._backend.has_keys_for)
        name = window.title or window.application or "the window in front"
        if chosen.way is Way.PASTE:
            try:
                read = self._paste(text, chosen, window, halt)
            except ActionError as error:
                if error.code != "clipboard_not_kept" or "\n" in text or "\t" in text:
                    raise
            else:
                if read:
                    return Typed(window.id, text, Receipt.VERIFIED, f"{_count(text)} pasted into {name}")
                detail = f"{name} did not take the paste. The text is on the clipboard: paste it by hand."
                return Typed(window.id, text, Receipt.ON_CLIPBOARD, detail)
        self._backend.type_text(text, window.id, halt)
        return Typed(window.id, text, Receipt.SENT, f"{_count(text)} typed into {name}")

    def _paste(self, text: str, chosen: Plan, window: Window, halt: threading.Event) -> bool:
        """Paste by the window's own chord, or by the other one on a keyboard without that key."""
        try:
            return self._backend.paste(text, chosen.chord, window.id, halt, primary=chosen.primary)
        except ActionError as error:
            if error.code != "no_such_key" or chosen.chord == SHIFT_INSERT:
                raise
        return self._backend.paste(text, SHIFT_INSERT, window.id, halt, primary=True)

    def _keep(self, text: str, error: ActionError, halt: threading.Event) -> Typed:
        wanted = clean(text, Window(0))
        try:
            self._backend.copy(wanted, halt)
        except ActionError as refused:
            raise ActionError(error.code, f"{error} {refused}" if refused.code != error.code else str(error)) from error
        return Typed(0, wanted, Receipt.ON_CLIPBOARD, f"{error} The text is on the clipboard: paste it by hand.")

    def _reach(self, pinned: Window | None, halt: threading.Event) -> tuple[Window, Window | None]:
        """The window that is meant, with the keyboard, and the other program's window that had it instead."""
        window = target_window(self._backend, self._own_pid, pinned)
        if window is None:
            raise ActionError("no_window", "No window has the keyboard. Click into the one that should get the text.")
        active = self._backend.active_window()
        if active is not None and active.id == window.id:
            return window, None
        left = active if active is not None and active.pid != self._own_pid else None
        if left is not None:
            self._wait_for_pause(halt)
        self._backend.activate(window.id, halt)
        return window, left

    def _wait_for_pause(self, halt: threading.Event) -> None:
        """Wait until the speaker does not use the other window for a moment."""
        until = time.monotonic() + _PAUSE_WAIT_S
        while (use := self._backend.input_used()) is not None and time.monotonic() - use.at < _PAUSE_S:
            check(halt)
            if time.monotonic() > until:
                raise ActionError("in_use", "You were at work in another window than you began to speak in.")
            halt.wait(0.05)

    def bring_forward(self, pinned: Window | None, halt: threading.Event) -> Window:
        """The window that is meant, with the keyboard; our own window in front of it steps back.

        For keys and other things that are refused where another window is in front by now.
        """
        window = target_window(self._backend, self._own_pid, pinned)
        if window is None:
            raise ActionError("no_window", "No window has the keyboard. Click into the one that should get the text.")
        active = self._backend.active_window()
        if active is None or active.id != window.id:
            if active is not None and active.pid != self._own_pid:
                raise ActionError(
                    "window_changed",
                    "Another window came to the front since you began to speak. Go back to it and say it again.",
                )
            self._backend.activate(window.id, halt)
        return window

    def take_back(self, halt: threading.Event, only: Typed | None = None) -> Typed:
        """Remove the last inserted text by backspaces.

        ``only`` demands that it is this one. Refused when another window has the keyboard, or when what is before the
        cursor may be something else by now.
        """
        if not self._typed or (only is not None and self._typed[-1] is not only):
            raise ActionError("nothing_to_scratch", "Nothing that Sayso typed is left right before the cursor.")
        typed = self._typed[-1]
        window = target_window(self._backend, self._own_pid)
        if window is None or window.id != typed.window:
            raise ActionError(
                "window_changed", "The text was typed into another window. Go back to that window and say it again."
            )
        count = backspaces(typed.text)
        if count is None:
            raise ActionError(
                "cannot_count", "The text has characters that applications delete in different ways. Remove it by hand."
            )
        if self._used_by_hand():
            self.forget()
            raise ActionError(
                "used_by_hand",
                "Keys were pressed by hand since, so what stands before the cursor is not known. Remove it by hand.",
            )
        self.bring_forward(window, halt)
        try:
            self._backend.press(_BACKSPACE, count, typed.window, halt)
        except ActionError as error:
            # How many of them arrived is unknown, unless none was sent.
            if error.code != "modifier_held":
                self.forget()
            raise
        self._typed.pop()
        self._own_use = self._backend.input_used()
        return typed

    def put_back(self, typed: Typed, halt: threading.Event) -> Typed:
        """Insert what was taken back again, into its own window whichever is in front by now."""
        window = self._backend.active_window()
        if window is None or window.id != typed.window:
            found = (each for each in self._backend.windows() if each.id == typed.window)
            window = next(found, Window(typed.window))
        return self.type(typed.text, window, halt)

    def _used_by_hand(self) -> bool:
        """Whether a key or button was pressed since we typed. Mere moves of the mouse do not count.

        The session tells only when any device was last used, so presses along with a move are taken for a move.
        """
        now = self._backend.input_used() if self._own_use else None
        if now is None or self._own_use is None:
            return False
        certain = _SAME_USE_S + now.within + self._own_use.within
        return now.at - self._own_use.at > certain and now.pointer == self._own_use.pointer

    def forget(self) -> None:
        """The cursor may have moved: nothing inserted so far is known to stand before it."""
        self._typed.clear()


class Typing:
    """“Type …”: the words as they were heard, set off by a space from what was inserted right before them."""

    family = "typing"

    def __init__(self, typist: Typist) -> None:
        self._typist = typist

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        typed = self._typist.type(job.match.slots["text"], job.target, job.halt, joined=True)
        return typed_as_done(self._typist, typed)

    def names(self) -> list[Named]:
        return []


def typed_as_done(typist: Typist, typed: Typed) -> Done:
    """The report of inserted text, which can be taken back where it is in a window. The transcript shows the text."""
    if typed.receipt is Receipt.ON_CLIPBOARD:
        return Done(typed.detail, typed.receipt)

    def revert(halt: threading.Event) -> Done:
        typist.take_back(halt, typed)
        return Done(f"{_count(typed.text)} removed", Receipt.SENT)

    return Done(typed.detail, typed.receipt, revert, made=typed)


def _count(text: str) -> str:
    count = len(text.strip())
    return f"{count} character{'s' if count != 1 else ''}"
