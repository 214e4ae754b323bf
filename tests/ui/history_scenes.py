"""States of the history window and of the editor of own commands, used by ``screenshots.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import scenes
from PySide6.QtCore import QTimer

from sayso.app.commands.own import OwnCommand, OwnKind
from sayso.app.commands_view import Problems
from sayso.app.history.entry import Entry
from sayso.app.history.view import Found, HistoryView, Rows
from sayso.app.snapshot import FeedState, LineKind, Snapshot

_DONE = {
    "open Firefox": ("Open Firefox", FeedState.DONE, "XTerm"),
    "close the window": ("Close the window", FeedState.FAILED, "org.gnome.TextEditor"),
    "set the volume to thirty percent": ("Set the volume to 30 %", FeedState.DONE, "XTerm"),
}


def _said() -> list[Entry]:
    """Some days of utterances, the newest first."""
    spoken = [
        Entry(line.started_at - 7_000 * day, 1.5, line.stable, line.kind, *_DONE.get(line.stable, ("", None, "")))
        for day in range(30)
        for line in reversed(scenes.LINES)
    ]
    return [Entry(scenes.START + 9_000, 9.0, scenes.LONG, LineKind.DICTATED, "", None, "LibreOffice"), *spoken]


@dataclass(frozen=True)
class HistoryScene:
    """What is kept, and what is searched for; as the intents of the window it answers a turn of the loop later."""

    days: int
    entries: tuple[Entry, ...] = ()
    search: str = ""

    @property
    def snapshot(self) -> Snapshot:
        return replace(scenes.idle(), history=HistoryView(self.days, len(self.entries), 1))

    def find(self, query: str, answer: Callable[[Found], None]) -> None:
        answer(Found(query, len(self._found(query)), len(self.entries)))

    def rows(self, found: Found, rows: Rows, answer: Callable[[tuple[Entry, ...]], None]) -> None:
        QTimer.singleShot(0, lambda: answer(tuple(self._found(found.query)[rows.first : rows.last + 1])))

    def _found(self, query: str) -> list[Entry]:
        return [entry for entry in self.entries if query.casefold() in entry.text.casefold()]


ALL: dict[str, Callable[[], HistoryScene]] = {
    "history": lambda: HistoryScene(30, tuple(_said())),
    "history-search": lambda: HistoryScene(30, tuple(_said()), "train"),
    "history-nothing-found": lambda: HistoryScene(30, tuple(_said()), "submarine"),
    "history-off": lambda: HistoryScene(0),
}

OWN_COMMANDS: dict[str, tuple[OwnCommand, Problems]] = {
    "own-command": (OwnCommand("lights in the garden", OwnKind.PROGRAM, "home-control --room garden on"), Problems()),
    "own-command-refused": (
        OwnCommand("close the windows", OwnKind.KEYS, "Ctrl+Q+W"),
        Problems(
            "This sounds too like “close window”: one would be taken for the other.",
            "These are no keys. Join them with +, and set presses apart with spaces: Ctrl+K Ctrl+S.",
        ),
    ),
}
