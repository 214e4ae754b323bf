"""What applications do on well-known keys: tabs, pages, clipboard, editing. One worker thread at a time.

Terminals use other keys for some of it, and in them Control+C or Control+Z would stop a program: those are never sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.desktop.base import IN_FRONT, Backend, Chord, Window
from sayso.app.actions.errors import ActionError
from sayso.app.actions.terminals import TerminalKind, terminal_kind
from sayso.app.actions.typing import Typist

_MOST = 50


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Keys for one thing to do: in ordinary windows, in terminals, and in plain ones; None where there are none."""

    chord: Chord
    terminal: Chord | None = None
    plain_terminal: Chord | None = None
    times: int = 1

    @property
    def everywhere(self) -> bool:
        """Whether it is the same in all windows."""
        return self.chord == self.terminal == self.plain_terminal

    def for_window(self, window: Window) -> Chord | None:
        match terminal_kind(window):
            case TerminalKind.PLAIN:
                return self.plain_terminal
            case TerminalKind.FULL:
                return self.terminal
            case TerminalKind.NONE:
                return self.chord


def _everywhere(*modifiers: str, key: str, times: int = 1) -> Shortcut:
    chord = Chord(modifiers, key)
    return Shortcut(chord, chord, chord, times)


def _but_terminals(*modifiers: str, key: str, terminal: Chord | None = None) -> Shortcut:
    return Shortcut(Chord(modifiers, key), terminal)


def _shifted(key: str) -> Chord:
    return Chord(("control", "shift"), key)


SHORTCUTS = {
    "new_tab": _but_terminals("control", key="t", terminal=_shifted("t")),
    "close_tab": _but_terminals("control", key="w", terminal=_shifted("w")),
    "reopen_tab": _but_terminals("control", "shift", key="t"),
    "next_tab": _but_terminals("control", key="Page_Down", terminal=Chord(("control",), "Page_Down")),
    "previous_tab": _but_terminals("control", key="Page_Up", terminal=Chord(("control",), "Page_Up")),
    "back": _but_terminals("alt", key="Left"),
    "forward": _but_terminals("alt", key="Right"),
    "reload": _but_terminals(key="F5"),
    "zoom_in": _but_terminals("control", key="plus", terminal=Chord(("control",), "plus")),
    "zoom_out": _but_terminals("control", key="minus", terminal=Chord(("control",), "minus")),
    "zoom_reset": _but_terminals("control", key="0", terminal=Chord(("control",), "0")),
    "find": _but_terminals("control", key="f", terminal=_shifted("f")),
    "copy": _but_terminals("control", key="c", terminal=_shifted("c")),
    "cut": _but_terminals("control", key="x"),
    "paste": Shortcut(Chord(("control",), "v"), _shifted("v"), Chord(("shift",), "Insert")),
    "select_all": _but_terminals("control", key="a"),
    "undo": _but_terminals("control", key="z"),
    "redo": _but_terminals("control", "shift", key="z"),
    "new_line": _everywhere(key="Return"),
    "new_paragraph": _everywhere(key="Return", times=2),
    "delete_words": Shortcut(Chord(("control",), "BackSpace"), Chord(("control",), "w"), Chord(("control",), "w")),
    "line_start": _everywhere(key="Home"),
    "line_end": _everywhere(key="End"),
}
"""By verb. What they do in a window is the application's affair; these are what most agree on."""


class Shortcuts(Family):
    """“New tab”, “copy that”, “delete the last three words”."""

    family = "shortcuts"

    def __init__(self, backend: Backend, typist: Typist) -> None:
        self._backend = backend
        self._typist = typist

    def perform(self, job: Job) -> Done:
        match = job.match
        shortcut = SHORTCUTS[match.command.verb]
        times = match.number("count", 1) * shortcut.times
        if not 1 <= times <= _MOST:
            raise ActionError("too_often", f"A key is pressed at most {_MOST} times at once.")
        window = self._typist.bring_forward(job.target, job.halt)
        chord = shortcut.for_window(window)
        if window == IN_FRONT and not shortcut.everywhere:
            raise ActionError(
                "window_unseen",
                f"On Wayland Sayso cannot see which program is in front, and the keys for “{match.command.say}” are "
                "not the same in all. Press them yourself, or say “press” and the keys.",
            )
        if chord is None:
            raise ActionError(
                "not_in_terminal",
                f"A terminal is in front: there “{match.command.say}” has no keys, or keys that could stop a program.",
            )
        # What stands before the cursor afterwards is the application's affair.
        self._typist.forget()
        self._backend.press(chord, times, window.id, job.halt)
        if query := match.slots.get("query"):
            typed = self._typist.type(query, window, job.halt)
            self._typist.forget()
            if typed.receipt is Receipt.ON_CLIPBOARD:
                return Done(typed.detail, typed.receipt)
        sent = chord.title if times == 1 else f"{chord.title} {times} times"
        return Done(f"{sent} sent to {window.title or window.application or 'the window in front'}", Receipt.SENT)
