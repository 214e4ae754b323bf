"""The line of the page *Commands* about what was written and not saved: go on with it, or drop it. Qt thread."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal

from sayso.app.commands.own import OwnCommand
from sayso.ui.draft_strip import DraftStrip
from sayso.ui.theme import Theme

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Unsaved:
    """What was written, and the command of the user's own that it was to replace; None for a new one."""

    replaces: OwnCommand | None
    written: OwnCommand

    @property
    def name(self) -> str:
        phrase = self.written.phrase or (self.replaces.phrase if self.replaces is not None else "")
        short = phrase if len(phrase) <= _SHOWN else f"{phrase[: _SHOWN - 1]}…"
        return f"your command “{short}”" if short else "a command of yours without a phrase"


class UnsavedCommands(DraftStrip):
    """Emits ``resumed`` with the one that is shown, the newest; hidden while there is none."""

    resumed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Not saved", "Go on &writing…", "D&iscard")
        self._items: tuple[Unsaved, ...] = ()
        self.go.clicked.connect(self._resume)
        self.discard.clicked.connect(lambda: self._show(self._items[:-1]))

    @property
    def items(self) -> tuple[Unsaved, ...]:
        """All of them, the newest last."""
        return self._items

    def add(self, *items: Unsaved) -> None:
        """Keep these; of what was to replace the same command the newer stays."""
        for item in items:
            self.take(item.replaces)
            self._show((*self._items, item))

    def take(self, replaces: OwnCommand | None) -> OwnCommand | None:
        """Hand out what was written to replace this command, or as a new one."""
        found = next((item for item in self._items if item.replaces == replaces), None)
        self._show(tuple(item for item in self._items if item is not found))
        return found.written if found is not None else None

    def _resume(self) -> None:
        self.resumed.emit(self._items[-1])

    def _show(self, items: tuple[Unsaved, ...]) -> None:
        self._items = items
        words = ""
        if items:
            name = items[-1].name
            others = f" {len(items) - 1} more after it." if len(items) > 1 else ""
            words = f"Not saved: {name}.{others}"
            self.discard.setAccessibleName(f"Discard {name}")
        self.tell(words)
