"""The actions that can still be taken back. Used by the performer, which lets only one action run at a time."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from dataclasses import dataclass

from sayso.app.actions.base import Done, Revert, UndoToken
from sayso.app.actions.errors import ActionError

_KEPT = 50
_MAY_BE_TRIED_AGAIN = frozenset({"window_changed", "window_not_shown", "typed_since", "modifier_held", "cancelled"})


@dataclass(frozen=True, slots=True)
class Undoable:
    token: UndoToken
    revert: Revert
    made: object | None = None


class UndoLog:
    """The last actions with their ways back, the latest last."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, Undoable] = OrderedDict()
        self._ids = itertools.count(1)

    def add(self, title: str, revert: Revert, made: object | None = None) -> UndoToken:
        token = UndoToken(next(self._ids), title)
        self._entries[token.id] = Undoable(token, revert, made)
        while len(self._entries) > _KEPT:
            self._entries.popitem(last=False)
        return token

    def get(self, token: UndoToken) -> Undoable | None:
        return self._entries.get(token.id)

    def latest(self) -> Undoable | None:
        return next(reversed(self._entries.values()), None)

    def withdraw(self, made: object) -> UndoToken | None:
        """What was made is gone: nothing is left to take back of the action that made it."""
        token = next((each.token for each in self._entries.values() if each.made is made), None)
        if token is not None:
            del self._entries[token.id]
        return token

    def revert(self, entry: Undoable, halt: threading.Event) -> Done:
        """Take an action back, in the worker thread. It stays undoable where only the wrong window was in front."""
        try:
            done = entry.revert(halt)
        except ActionError as error:
            if error.code not in _MAY_BE_TRIED_AGAIN:
                self._entries.pop(entry.token.id, None)
            raise
        self._entries.pop(entry.token.id, None)
        return done
