"""Scrolling the window in front, by the wheel and by keys. One worker thread at a time."""

from __future__ import annotations

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.desktop.base import Backend, Chord
from sayso.app.actions.errors import ActionError
from sayso.app.actions.typing import Typist
from sayso.app.commands.matching import Match

_CLICKS = 4
"""Clicks of the wheel for one “scroll down”."""
_A_LITTLE = 1
_MOST = 20
_ENDS = {"top": Chord(("control",), "Home"), "bottom": Chord(("control",), "End")}


class Scrolling(Family):
    """“Scroll down”, “scroll up three times”, “scroll to the top”."""

    family = "scrolling"

    def __init__(self, backend: Backend, typist: Typist) -> None:
        self._backend = backend
        self._typist = typist

    def describe(self, match: Match) -> str:
        times = match.number("count", 1)
        return match.title if times == 1 else f"{match.title} {times} times"

    def perform(self, job: Job) -> Done:
        times = job.match.number("count", 1)
        if not 1 <= times <= _MOST:
            raise ActionError("too_often", f"A window is scrolled at most {_MOST} times at once.")
        window = self._typist.bring_forward(job.target, job.halt)
        verb = job.match.command.verb
        if verb == "end":
            # Where the cursor is afterwards is the application's affair.
            self._typist.forget()
            self._backend.press(_ENDS[job.match.slots["end"]], 1, window.id, job.halt)
        else:
            clicks = (_A_LITTLE if verb == "little" else _CLICKS) * times
            self._backend.scroll(clicks if job.match.slots["direction"] == "down" else -clicks, window.id, job.halt)
        return Done(f"sent to {window.title or window.application or 'the window in front'}", Receipt.SENT)
