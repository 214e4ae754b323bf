"""What an action is: it performs one family's commands in a worker thread and says honestly what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from sayso.app.actions.desktop.base import Backend, Window
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named


class Receipt(StrEnum):
    """How sure it is that something happened. What was refused is an ActionError instead."""

    VERIFIED = "verified"
    """The effect was looked at afterwards."""
    SENT = "sent"
    """It was handed on; whether it arrived cannot be seen."""
    ON_CLIPBOARD = "on the clipboard"
    """The text could not be inserted, so it waits on the clipboard."""


@dataclass(frozen=True, slots=True)
class UndoToken:
    """A handle to take an action back; worthless once used or once too many actions came after it."""

    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action came to."""

    title: str
    detail: str
    """The result in words for people; empty where the title says it all."""
    receipt: Receipt = Receipt.VERIFIED
    undo: UndoToken | None = None
    undone: UndoToken | None = None
    """The earlier action that this one took back."""


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do. ``halt`` is set when it must stop."""

    match: Match
    halt: threading.Event
    target: Window | None = None
    """The window that had the keyboard when the speaker began; None leaves it to the one that has it now."""


Revert = Callable[[threading.Event], "Done"]
"""Takes an action back; runs in the worker thread and raises ActionError where that is no longer possible."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a family reports to the performer."""

    detail: str = ""
    receipt: Receipt = Receipt.VERIFIED
    revert: Revert | None = field(default=None, repr=False)
    undone: UndoToken | None = None
    title: str = ""
    """Replaces the described title where only the doing showed what it was."""
    made: object | None = field(default=None, repr=False)
    """What was made, by which an action that takes it away otherwise finds it in the undo log."""


class Action(Protocol):
    """One family of commands. Its file is the only place that knows how they are done."""

    family: str

    def describe(self, match: Match) -> str:
        """What a match does, in words for people; must be quick and never fail."""

    def perform(self, job: Job) -> Done:
        """Do it. Blocks, in the performer's worker thread; raises ActionError."""

    def names(self) -> list[Named]:
        """Things that this family's commands can name now."""


class Family:
    """What most families have in common: a command is told by its title, and there is nothing that it could name."""

    def describe(self, match: Match) -> str:
        return match.title

    def names(self) -> list[Named]:
        return []


def target_window(backend: Backend, own_pid: int, pinned: Window | None = None) -> Window | None:
    """The window that keys and “this window” are meant for.

    The pinned one; else the one with the keyboard; else, while one of our own windows has it, the first one behind.
    """
    if pinned is not None and pinned.pid != own_pid:
        return pinned
    active = backend.active_window()
    if active is not None and active.pid != own_pid:
        return active
    return next((window for window in backend.windows() if window.pid != own_pid), None)
