"""What the windows show of the commands: immutable values."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.commands.own import OwnCommand


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command: a way to say it, what it does, and whether it is understood now."""

    intent: str
    """``family.verb``; of one of the user's own, ``own.`` and its number."""
    say: str
    help: str
    on: bool = True
    always_on: bool = False
    own: OwnCommand | None = None

    @property
    def family(self) -> str:
        return self.intent.partition(".")[0]


@dataclass(frozen=True, slots=True)
class CommandsView:
    rows: tuple[CommandRow, ...] = ()
    """The user's own first, then those that come with the app, in the order of its grammar."""


@dataclass(frozen=True, slots=True)
class Problems:
    """Why a command cannot be, in words for people; both empty where it can."""

    phrase: str = ""
    value: str = ""

    def __bool__(self) -> bool:
        return bool(self.phrase or self.value)
