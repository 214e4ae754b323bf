"""What is asked of the field that has the keyboard in a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a field's cursor is."""

    offset: int
    """Counted as its program counts: in characters, or in UTF-16's halves of them."""
    before: str
    """The end of the text before it."""


class Fields(Protocol):
    """What is known of the field that has the keyboard in a program, by the program's process number."""

    def is_secret(self, pid: int) -> bool:
        """Whether it is a password field; False also where that cannot be known."""

    def cursor(self, pid: int, length: int) -> Cursor | None:
        """Its cursor, with ``length`` characters before it or more; None where its program does not tell."""


class UnknownFields:
    """No program tells anything."""

    def is_secret(self, pid: int) -> bool:
        return False

    def cursor(self, pid: int, length: int) -> Cursor | None:
        return None
