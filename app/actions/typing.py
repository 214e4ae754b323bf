"""Typing text and taking back what was typed. The log of typed text stays in memory and is written nowhere.

One worker thread at a time.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import deque
from dataclasses import dataclass

from sayso.app.actions.base import Done, Job, Receipt, target_window
from sayso.app.actions.desktop.base import Backend, Chord, InputUse, Window
from sayso.app.actions.errors import ActionError
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named

_REMEMBERED = 50
"""Typed pieces that can be taken back one after another."""
_SAME_USE_S = 0.1
"""Two readings of the time of one use differ by less."""
_BACKSPACE = Chord((), "BackSpace")
_NO_SPACE_AFTER = frozenset(" \t\n([{\u201c\u2018/")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True)
class Typed:
    """Text that stands, as far as is known, right before the cursor of a window."""

    window: int
    text: str


class Typist:
    """Types into the window that is meant, and remembers what, so that it can be taken back."""

    def __init__(self, backend: Backend, own_pid: int) -> None:
        self._backend = backend
        self._own_pid = own_pid
        self._typed: deque[Typed] = deque(maxlen=_REMEMBERED)
        self._own_use: InputUse | None = None
        """Keyboard and mouse as we left them after typing."""

    def type(self, text: str, pinned: Window | None, halt: threading.Event, *, joined: bool = False) -> Typed:
        """Type ``text``; ``joined`` puts a space between it and the dictation before it in the same window."""
        clean = printable(text)
        if not clean:
            raise ActionError("nothing_to_type", "There is nothing to type in that.")
        window = self.bring_forward(pinned, halt)
        if self._used_by_hand():
            self.forget()
        before = self._typed[-1] if self._typed else None
        if joined and before and before.window == window.id and before.text[-1] not in _NO_SPACE_AFTER:
            clean = f" {clean}"
        try:
            self._backend.type_text(clean, window.id, halt)
        except ActionError:
            # How much of it arrived is unknown, so nothing before it can be taken back safely either.
            self.forget()
            raise
        typed = Typed(window.id, clean)
        self._typed.append(typed)
        self._own_use = self._backend.input_used()
        return typed

    def bring_forward(self, pinned: Window | None, halt: threading.Event) -> Window:
        """The window that is meant, with the keyboard; our own window in front of it steps back."""
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
        """Remove the last typed text by as many backspaces as it has characters.

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
        if not _one_backspace_each(typed.text):
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
        self._typed.pop()
        self._backend.press(_BACKSPACE, len(typed.text), typed.window, halt)
        self._own_use = self._backend.input_used()
        return typed

    def _used_by_hand(self) -> bool:
        """Whether a key or button was pressed since we typed. Mere moves of the mouse do not count.

        The session tells only when any device was last used, so presses along with a move are taken for a move.
        """
        now = self._backend.input_used() if self._own_use else None
        if now is None or self._own_use is None:
            return False
        return now.at - self._own_use.at > _SAME_USE_S and now.pointer == self._own_use.pointer

    def forget(self) -> None:
        """The cursor may have moved: nothing typed so far is known to stand before it."""
        self._typed.clear()


class Typing:
    """“Type …”: the words as they were heard."""

    family = "typing"

    def __init__(self, typist: Typist) -> None:
        self._typist = typist

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        return typed_as_done(self._typist, self._typist.type(job.match.slots["text"], job.target, job.halt))

    def names(self) -> list[Named]:
        return []


def typed_as_done(typist: Typist, typed: Typed) -> Done:
    """The report of typed text, which can be taken back. Its text is left out: the transcript shows it."""
    count = len(typed.text.strip())

    def revert(halt: threading.Event) -> Done:
        typist.take_back(halt, typed)
        return Done(f"{count} characters removed", Receipt.SENT)

    return Done(f"{count} character{'s' if count != 1 else ''} typed", Receipt.SENT, revert)


def printable(text: str) -> str:
    """The text in composed form, on one line and without control characters: a line end would be Enter."""
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(character for character in composed if unicodedata.category(character) not in ("Cc", "Cs", "Cn"))


def _one_backspace_each(text: str) -> bool:
    """Whether every application removes one code point for one backspace."""
    return not any(unicodedata.combining(character) or character in _JOINERS for character in text) and not any(
        0x1F1E6 <= ord(character) <= 0x1F1FF or 0x1F3FB <= ord(character) <= 0x1F3FF for character in text
    )
