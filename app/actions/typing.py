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
from dataclasses import dataclass

from sayso.app.actions.base import Done, Family, Job, Receipt, target_window
from sayso.app.actions.desktop.base import IN_FRONT, Backend, Chord, Window, check
from sayso.app.actions.errors import ActionError
from sayso.app.actions.fields import Cursor, Fields, UnknownFields
from sayso.app.actions.insertion import SHIFT_INSERT, Plan, Way, backspaces, clean, needs_space, plan
from sayso.app.actions.terminals import TerminalKind, terminal_kind

log = logging.getLogger(__name__)

_REMEMBERED = 50
"""Inserted pieces that can be taken back one after another."""
_PAUSE_S = 0.7
"""Nothing was pressed for so long: keys meant for one window would not reach another that comes to the front now."""
_PAUSE_WAIT_S = 5.0
_GONE_S = 1.0
"""How long a program that tells its text may take to handle backspaces."""
_GOES_ON_S = 30.0
"""Where windows cannot be seen, text so soon after other text is taken to go on behind it."""
_BACKSPACE = Chord((), "BackSpace")
_KEPT_ON_CLIPBOARD = frozenset(
    {
        *("no_window", "window_gone", "window_changed", "window_not_shown", "in_use", "no_window_manager"),
        *("modifier_held", "keyboard_taken", "no_such_key", "no_spare_key", "needs_x11", "display_without_xtest"),
        *("own_window", "no_keys"),
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


@dataclass(frozen=True, slots=True)
class Removed:
    """Text that was taken back."""

    typed: Typed
    receipt: Receipt
    detail: str
    """What came of it, in words for people."""


class Typist:
    """Inserts text, and remembers what, so that it can be taken back."""

    def __init__(self, backend: Backend, own_pid: int, fields: Fields | None = None) -> None:
        self._backend = backend
        self._own_pid = own_pid
        self._fields = fields or UnknownFields()
        self._typed: deque[Typed] = deque(maxlen=_REMEMBERED)
        self._typed_at = 0.0

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
            return self._insert_into(window, text, halt, joined)
        finally:
            if left is not None:
                self._go_back(left, halt)

    def _insert_into(self, window: Window, text: str, halt: threading.Event, joined: bool) -> Typed:
        if self._fields.is_secret(window.pid):
            raise ActionError("password_field", "A password field has the keyboard. Passwords are typed by hand.")
        before = self._before(window, halt)
        wanted = clean(text, window)
        if joined and before is not None and needs_space(before.text, wanted):
            wanted = f" {wanted}"
        if not wanted.strip():
            raise ActionError("nothing_to_type", "There is nothing to type in that.")
        self._backend.watch_hands(window.id, halt)
        typed = self._send(wanted, window, halt)
        # Once more, since our own presses may look like those of a hand.
        self._backend.watch_hands(window.id, halt)
        if typed.receipt is Receipt.ON_CLIPBOARD:
            self.forget()
        else:
            self._typed.append(typed)
            self._typed_at = time.monotonic()
        return typed

    def _before(self, window: Window, halt: threading.Event) -> Typed | None:
        """What was inserted right before the cursor of this window, as far as is known."""
        before = self._last_in(window.id)
        if window == IN_FRONT:
            return before if time.monotonic() - self._typed_at < _GOES_ON_S else None
        if before is not None and not self._backend.untouched(window.id, halt):
            self._forget_window(window.id)
            return None
        return before

    def _go_back(self, left: Window, halt: threading.Event) -> None:
        """Bring the speaker's own window to the front again; where that fails, the text is no less where it belongs."""
        try:
            self._backend.activate(left.id, halt)
        except ActionError as error:
            log.info("the window of before did not come back: %s", error.code)

    def _send(self, text: str, window: Window, halt: threading.Event) -> Typed:
        chosen = plan(text, window, self._backend.has_keys_for)
        name = _name(window)
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
        while (used := self._backend.input_used()) is not None and time.monotonic() - used < _PAUSE_S:
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

    def take_back(self, halt: threading.Event, only: Typed | None = None) -> Removed:
        """Remove the last inserted text, or ``only`` that, by backspaces.

        While our own window has the keyboard, the one with the text comes to the front for it, and ours again
        afterwards. Refused while another program has it, and when what is before the cursor may be something else.
        """
        typed = self._removable(only)
        if typed.window == IN_FRONT.id:
            raise ActionError(
                "window_unseen",
                "On Wayland Sayso cannot see what stands before the cursor now. Remove it by hand, "
                "or say “press backspace 5 times”.",
            )
        active = self._backend.active_window()
        ours = active if active is not None and active.pid == self._own_pid else None
        if active is not None and ours is None and active.id != typed.window:
            raise ActionError(
                "window_changed", "The text was typed into another window. Go back to that window and say it again."
            )
        count = backspaces(typed.text)
        if count is None:
            raise ActionError(
                "cannot_count", "The text has characters that applications delete in different ways. Remove it by hand."
            )
        if not self._backend.untouched(typed.window, halt):
            self._forget_window(typed.window)
            raise ActionError(
                "used_by_hand",
                "Keys or the mouse were used there by hand since, or the window is gone, so what stands before the "
                "cursor is not known. Remove it by hand.",
            )
        if active is None or active.id != typed.window:
            self._backend.activate(typed.window, halt)
        try:
            return self._remove(typed, count, halt)
        finally:
            if ours is not None:
                self._go_back(ours, halt)

    def put_back(self, typed: Typed, halt: threading.Event) -> Typed:
        """Insert what was taken back again, into its own window whichever is in front by now."""
        window = self._backend.active_window()
        if window is None or window.id != typed.window:
            found = (each for each in self._backend.windows() if each.id == typed.window)
            window = next(found, Window(typed.window))
        return self.type(typed.text, window, halt)

    def _removable(self, only: Typed | None) -> Typed:
        """The text that is to be removed, if it is the last one that was inserted in its window."""
        wanted = only if only is not None else (self._typed[-1] if self._typed else None)
        if wanted is None or not any(each is wanted for each in self._typed):
            raise ActionError("nothing_to_scratch", "Nothing that Sayso typed is left right before the cursor.")
        if self._last_in(wanted.window) is not wanted:
            raise ActionError("typed_since", "More was typed after it in the same window. Undo that first.")
        return wanted

    def _remove(self, typed: Typed, count: int, halt: threading.Event) -> Removed:
        window = self._backend.active_window()
        if window is None or window.id != typed.window:
            raise ActionError("window_changed", "Another window came to the front. Try again.")
        before = self._cursor(window, typed)
        if before is not None and not _stands(typed.text, before):
            self._forget_window(window.id)
            raise ActionError(
                "text_changed",
                f"What stands before the cursor in {_name(window)} is not what Sayso typed there. Remove it by hand.",
            )
        try:
            self._backend.press(_BACKSPACE, count, window.id, halt)
        except ActionError as error:
            if error.code != "modifier_held":
                # How much of it is gone is unknown.
                self._forget_window(window.id)
            raise
        self._typed = deque((each for each in self._typed if each is not typed), maxlen=_REMEMBERED)
        self._backend.watch_hands(window.id, halt)
        if before is not None and self._is_gone(window, typed, before, halt):
            return Removed(typed, Receipt.VERIFIED, f"{_count(typed.text)} removed from {_name(window)}")
        return Removed(typed, Receipt.SENT, f"{_count(typed.text)} removed by backspaces in {_name(window)}")

    def _cursor(self, window: Window, typed: Typed) -> Cursor | None:
        """Where the window's cursor is. What a terminal shows before it is not what was typed alone."""
        if terminal_kind(window) is not TerminalKind.NONE:
            return None
        return self._fields.cursor(window.pid, len(typed.text))

    def _is_gone(self, window: Window, typed: Typed, before: Cursor, halt: threading.Event) -> bool:
        """Whether the cursor has gone back by the text's length."""
        lengths = (len(typed.text), len(typed.text.encode("utf-16-le")) // 2)
        until = time.monotonic() + _GONE_S
        while time.monotonic() < until:
            now = self._cursor(window, typed)
            if now is not None and before.offset - now.offset in lengths:
                return True
            check(halt)
            halt.wait(0.02)
        return False

    def _last_in(self, window: int) -> Typed | None:
        return next((each for each in reversed(self._typed) if each.window == window), None)

    def _forget_window(self, window: int) -> None:
        self._typed = deque((each for each in self._typed if each.window != window), maxlen=_REMEMBERED)
        self._backend.forget_hands(window)

    def forget(self) -> None:
        """The cursor may have moved: nothing inserted so far is known to stand before it."""
        for window in {each.window for each in self._typed}:
            self._forget_window(window)


class Typing(Family):
    """“Type …”: the words as they were heard, set off by a space from what was inserted right before them."""

    family = "typing"

    def __init__(self, typist: Typist) -> None:
        self._typist = typist

    def perform(self, job: Job) -> Done:
        typed = self._typist.type(job.match.slots["text"], job.target, job.halt, joined=True)
        return typed_as_done(self._typist, typed)


def typed_as_done(typist: Typist, typed: Typed) -> Done:
    """The report of inserted text, which can be taken back where it is in a window. The transcript shows the text."""
    if typed.receipt is Receipt.ON_CLIPBOARD or typed.window == IN_FRONT.id:
        return Done(typed.detail, typed.receipt)

    def revert(halt: threading.Event) -> Done:
        removed = typist.take_back(halt, typed)
        return Done(removed.detail, removed.receipt)

    return Done(typed.detail, typed.receipt, revert, made=typed)


def _count(text: str) -> str:
    count = len(text.strip())
    return f"{count} character{'s' if count != 1 else ''}"


def _name(window: Window) -> str:
    return window.title or window.application or "the window in front"


def _stands(text: str, cursor: Cursor) -> bool:
    """Whether a text stands right before a cursor; browsers show some spaces as ones that do not break."""
    return cursor.before.replace("\u00a0", " ").endswith(text.replace("\u00a0", " "))
