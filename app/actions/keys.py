"""Keys and chords. One worker thread at a time."""

from __future__ import annotations

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.desktop.base import MODIFIERS, Backend, Chord
from sayso.app.actions.errors import ActionError
from sayso.app.actions.typing import Typist
from sayso.app.commands.matching import Match

_MOST = 50
"""Presses in one command; more is more likely misheard than meant."""


class Keys(Family):
    """“Press control shift T”, “press tab three times”."""

    family = "keys"

    def __init__(self, backend: Backend, typist: Typist) -> None:
        self._backend = backend
        self._typist = typist

    def describe(self, match: Match) -> str:
        chord, times = read_chord(match), match.number("count", 1)
        title = f"Press {chord.title}"
        return title if times == 1 else f"{title} {times} times"

    def perform(self, job: Job) -> Done:
        chord, times = read_chord(job.match), job.match.number("count", 1)
        if not 1 <= times <= _MOST:
            raise ActionError("too_often", f"A key is pressed at most {_MOST} times at once.")
        window = self._typist.bring_forward(job.target, job.halt)
        # Where the cursor is afterwards is the application's affair.
        self._typist.forget()
        self._backend.press(chord, times, window.id, job.halt)
        return Done(f"sent to {window.title or window.application or 'the window in front'}", Receipt.SENT)


def read_chord(match: Match) -> Chord:
    """The chord of a match: slots ``modifier`` (several joined with “+”) and one of the key lists."""
    said = [name for name in match.slots.get("modifier", "").split("+") if name]
    key = next(match.slots[name] for name in ("key", "named_key", "direction_key") if name in match.slots)
    return Chord(tuple(name for name in MODIFIERS if name in said), key)
