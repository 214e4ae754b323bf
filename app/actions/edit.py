"""“Scratch that” and “undo that”. One worker thread at a time."""

from __future__ import annotations

import threading

from sayso.app.actions.base import Done, Family, Job
from sayso.app.actions.errors import ActionError
from sayso.app.actions.typing import Typist
from sayso.app.actions.undo import UndoLog


class Edit(Family):
    """Takes back what Sayso itself did; it never touches anything else."""

    family = "edit"

    def __init__(self, typist: Typist, undo: UndoLog) -> None:
        self._typist = typist
        self._undo = undo

    def perform(self, job: Job) -> Done:
        return self._scratch(job) if job.match.command.verb == "scratch" else self._undo_last(job)

    def _scratch(self, job: Job) -> Done:
        removed = self._typist.take_back(job.halt)

        def revert(halt: threading.Event) -> Done:
            again = self._typist.put_back(removed.typed, halt)
            return Done(again.detail, again.receipt)

        return Done(removed.detail, removed.receipt, revert, undone=self._undo.withdraw(removed.typed))

    def _undo_last(self, job: Job) -> Done:
        entry = self._undo.latest()
        if entry is None:
            raise ActionError(
                "nothing_to_undo",
                "There is nothing of mine to undo. “Press control Z” undoes in the application in front.",
            )
        done = self._undo.revert(entry, job.halt)
        return Done(done.detail, done.receipt, undone=entry.token, title=f"Undo: {entry.token.title}")
