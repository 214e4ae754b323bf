"""What a selection (the clipboard) holds, as a value: for each target (format) its bytes. Pure.

Atoms are numbers that the X server gives to names; all of them here belong to one connection.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

CHUNK = 65536
"""Bytes in one property. ICCCM moves more than that piece by piece (INCR), whatever the server's own limit is."""
_NO_CONTENTS = frozenset(
    {
        # Questions to an owner and requests of side effects, which no other owner can answer for it.
        *("TARGETS", "MULTIPLE", "TIMESTAMP", "SAVE_TARGETS", "DELETE", "INSERT_SELECTION", "INSERT_PROPERTY"),
        # Names of things that live in the owner's connection, and of the owner itself.
        *("PIXMAP", "BITMAP", "DRAWABLE", "COLORMAP", "WINDOW", "CLIENT_WINDOW", "HOST_NAME", "PROCESS", "TASK"),
        *("USER", "OWNER_OS", "CLASS", "NAME"),
    }
)
_TEXT = ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain")
_HINT = "x-kde-passwordManagerHint"
"""With the value “secret” clipboard managers keep it out of their histories: it stays there for a moment only."""


@dataclass(frozen=True, slots=True)
class Content:
    """One format's contents as they travel in a property."""

    type: int
    """An atom."""
    width: int
    """8, 16 or 32 bits in one item."""
    data: bytes

    @property
    def items(self) -> int:
        return len(self.data) * 8 // self.width


@dataclass(frozen=True, slots=True)
class Clip:
    """Everything that a selection offers, by target."""

    contents: Mapping[int, Content]

    @property
    def targets(self) -> tuple[int, ...]:
        return tuple(self.contents)

    @property
    def size(self) -> int:
        """Bytes of all formats together."""
        return sum(len(content.data) for content in self.contents.values())


def is_contents(target: str) -> bool:
    """Whether a target names contents that another owner can hand out just as well."""
    return target not in _NO_CONTENTS


def text_clip(text: str, atom: Callable[[str], int], *, passing: bool) -> Clip:
    """``text`` in the formats that programs ask for; ``passing`` text asks clipboard managers not to remember it."""
    utf8 = text.encode()
    contents = {atom(name): Content(atom(name), 8, utf8) for name in _TEXT}
    contents[atom("TEXT")] = Content(atom("UTF8_STRING"), 8, utf8)
    with contextlib.suppress(UnicodeEncodeError):  # STRING is Latin-1 by definition; other text has no such form.
        contents[atom("STRING")] = Content(atom("STRING"), 8, text.encode("latin-1"))
    if passing:
        contents[atom(_HINT)] = Content(atom(_HINT), 8, b"secret")
    return Clip(contents)


def pieces(data: bytes) -> list[bytes]:
    """``data`` as INCR sends it; the empty piece at the end says that it was the last."""
    return [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)] + [b""]


def same_client(first: int, second: int, mask: int) -> bool:
    """Whether two windows were made by the same program; ``mask`` are the bits that a program chooses itself."""
    return first & ~mask == second & ~mask
