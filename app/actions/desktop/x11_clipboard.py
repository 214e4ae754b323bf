"""Lends the clipboard to dictated text and gives back what was on it, once the text was really read.

Whoever owns a selection must answer for it as long as it does, so a thread of its own does that, from the first use
until ``close``. The other methods belong to one worker thread at a time.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import xcffib
from xcffib.xproto import Atom, PropMode, SelectionNotifyEvent

from sayso.app.actions.desktop.base import check
from sayso.app.actions.desktop.x11_clip import Clip, same_client, text_clip
from sayso.app.actions.desktop.x11_events import X11Events
from sayso.app.actions.desktop.x11_selection_owner import SelectionOwner
from sayso.app.actions.desktop.x11_selection_reader import CannotKeepError, SelectionReader
from sayso.app.actions.desktop.x11_thread import X11Thread
from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)

_QUIET_S = 0.25
"""Programs may read a paste more than once; the clipboard is given back when none has for so long."""
_SAYS_S = 2.0
"""How long a program that was given the text gets to say that it has read it."""
_HAND_OVER_S = 2.0
_CLOSE_S = 4.0


@dataclass(slots=True)
class Loan:
    """Text that is on the clipboard for one program to read."""

    reader: int
    """A window of that program."""
    clip: Clip | None = None
    sent: bool = False
    """The program was told to paste."""
    handed: threading.Event = field(default_factory=threading.Event)
    """It asked for the text and was given it."""
    taken: threading.Event = field(default_factory=threading.Event)
    """It has read the text."""
    read_at: float = 0.0
    keeps_silent: bool = False
    """The program is known not to say when it has read something."""


class X11Clipboard:
    """The clipboard (CLIPBOARD, and PRIMARY for programs that paste from there)."""

    def __init__(self, display: str) -> None:
        self._display = display
        self._keeper: _Keeper | None = None

    def lend(self, text: str, reader: int, halt: threading.Event, *, primary: bool) -> Loan:
        """Offer ``text`` to the program of the window ``reader``; what is there now is kept in all formats.

        ActionError “clipboard_not_kept” where that cannot be done; then the clipboard is untouched.
        """
        loan = Loan(reader)
        self._do(lambda keeper: keeper.lend(text, loan, primary), halt)
        return loan

    def taken(self, loan: Loan, seconds: float, halt: threading.Event) -> bool:
        """Whether the program reads the text in this time; if it does so later, the clipboard is given back then.

        A program that asked for the text and was given it has read it as soon as it deletes the property that the text
        came in; a text that came earlier would overwrite it there. Tk never does that, so it is waited for only once.
        """
        if not _until(loan.handed, seconds, halt):
            return False
        if not loan.keeps_silent and not _until(loan.taken, _SAYS_S, halt):
            self._do(lambda keeper: keeper.note_silence(loan), halt)
        return True

    def give_back(self) -> None:
        """End a loan at once, since nobody was told to read it."""
        self._do(lambda keeper: keeper.give_back(), threading.Event())

    def copy(self, text: str, halt: threading.Event) -> None:
        """Put ``text`` on the clipboard for good."""
        self._do(lambda keeper: keeper.copy(text), halt)

    def close(self) -> None:
        """Hand what we offer to the session's clipboard manager, where there is one, and end the thread."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.close()

    def _do(self, work: Callable[[_Keeper], None], halt: threading.Event) -> None:
        if self._keeper is None or not self._keeper.thread.alive:
            self._keeper = _Keeper(self._display)
        keeper = self._keeper
        keeper.thread.do(lambda: work(keeper), halt)


class _Keeper:
    """The thread that owns the selections, with its connection."""

    def __init__(self, display: str) -> None:
        self._events = X11Events(display)
        self._owner = SelectionOwner(self._events, self._handed, self._taken, self._lost)
        self._silent: set[int] = set()
        """Programs that do not say that they have read something, by what the numbers of their windows share."""
        self._reader = SelectionReader(self._events)
        self._clipboard = self._events.atom("CLIPBOARD")
        self._before: dict[int, Clip | None] = {}
        """What each lent selection held, None for nothing."""
        self._loan: Loan | None = None
        self.thread = X11Thread(self._events, "clipboard", self._give_back_if_due, self._give_back_at)
        self.thread.start()

    def close(self) -> None:
        if self.thread.alive:
            with contextlib.suppress(ActionError):  # A display that is gone has no clipboard any more.
                self.thread.do(self._finish, threading.Event())
        self.thread.join(_CLOSE_S)

    # In the thread.

    def lend(self, text: str, loan: Loan, primary: bool) -> None:
        selections = [self._clipboard, *([int(Atom.PRIMARY)] if primary else [])]
        before = {each: self._keep(each) for each in selections if each not in self._before}
        self._before |= before
        loan.clip = text_clip(text, self._events.atom, passing=True)
        loan.keeps_silent = loan.reader & ~self._events.id_mask in self._silent
        self._loan = loan
        try:
            for selection in selections:
                self._owner.own(selection, loan.clip)
        except ActionError:
            self.give_back()
            raise

    def give_back(self) -> None:
        while self._before:
            selection, clip = next(iter(self._before.items()))
            self._owner.exchange(selection, clip)
            self._before.pop(selection, None)
        self._loan = None

    def copy(self, text: str) -> None:
        self.give_back()
        self._owner.own(self._clipboard, text_clip(text, self._events.atom, passing=False))

    def _keep(self, selection: int) -> Clip | None:
        owner = self._owner.owner(selection)
        if owner == 0:
            return None
        ours = self._owner.held(selection)
        if ours is not None:
            return ours
        try:
            return self._reader.read(selection)
        except CannotKeepError as error:
            raise ActionError(
                "clipboard_not_kept", f"What is on the clipboard cannot be put back after pasting: {error}."
            ) from error

    def note_silence(self, loan: Loan) -> None:
        """Remember that a program does not say that it has read something."""
        self._silent.add(loan.reader & ~self._events.id_mask)

    def _handed(self, requestor: int, clip: Clip) -> None:
        loan = self._loan
        if self._is_for(loan, requestor, clip):
            loan.read_at = time.monotonic()
            loan.handed.set()
            self.thread.stir()

    def _taken(self, requestor: int, clip: Clip) -> None:
        loan = self._loan
        if self._is_for(loan, requestor, clip):
            loan.read_at = time.monotonic()
            loan.taken.set()
            self._silent.discard(loan.reader & ~self._events.id_mask)

    def _is_for(self, loan: Loan | None, requestor: int, clip: Clip) -> TypeGuard[Loan]:
        """Whether a read is the one that a loan waits for, and not a clipboard manager's or one of an earlier text."""
        return (
            loan is not None
            and loan.sent
            and clip is loan.clip
            and same_client(requestor, loan.reader, self._events.id_mask)
        )

    def _lost(self, selection: int) -> None:
        """Another program has put something there: that stays."""
        self._before.pop(selection, None)

    def _give_back_if_due(self) -> None:
        loan, at = self._loan, self._give_back_at()
        if loan is None or at is None or time.monotonic() < at or self._owner.delivering:
            return
        try:
            self.give_back()
        except (xcffib.Error, ActionError) as error:
            log.warning("the clipboard could not be given back yet: %s", type(error).__name__)
            loan.read_at = time.monotonic()

    def _give_back_at(self) -> float | None:
        loan = self._loan
        if loan is None or not loan.handed.is_set():
            return None
        return max(loan.read_at + _QUIET_S, time.monotonic() + 0.02 if self._owner.delivering else 0.0)

    def _finish(self) -> None:
        if self._loan is not None and self._loan.handed.is_set():
            self.give_back()
        held = self._owner.held(self._clipboard)
        if held is not None:
            self._hand_over(held)
        self.thread.end()

    def _hand_over(self, clip: Clip) -> None:
        """Ask the clipboard manager to save what we offer (freedesktop's clipboard manager specification)."""
        manager = self._events.atom("CLIPBOARD_MANAGER")
        if self._owner.owner(manager) == 0:
            return
        core, window = self._events.connection.core, self._events.window
        place, answered = self._events.atom("_SAYSO_SAVE"), list[None]()

        def note(event: Any) -> None:
            answered.extend([None] * (isinstance(event, SelectionNotifyEvent) and event.selection == manager))

        self._events.handlers.append(note)
        packed = b"".join(target.to_bytes(4, sys.byteorder) for target in clip.targets)
        core.ChangeProperty(PropMode.Replace, window, place, Atom.ATOM, 32, len(clip.targets), packed)
        core.ConvertSelection(window, manager, self._events.atom("SAVE_TARGETS"), place, self._events.now())
        if not self._events.pump(lambda: bool(answered), time.monotonic() + _HAND_OVER_S):
            log.info("the clipboard manager did not take over in time")
        self._events.handlers.remove(note)


def _until(event: threading.Event, seconds: float, halt: threading.Event) -> bool:
    until = time.monotonic() + seconds
    while not event.wait(0.02):
        check(halt)
        if time.monotonic() > until:
            return False
    return True
