"""The keyboard mapping as a value: which key, with or without shift, gives a character. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xcffib import keysymdef

NO_SYMBOL = 0
_UNICODE = 0x0100_0000


@dataclass(frozen=True, slots=True)
class Stroke:
    """One key, held with shift or not."""

    keycode: int
    shift: bool = False


@dataclass(frozen=True)
class Keymap:
    """The core keyboard mapping: ``width`` keysyms for each keycode from ``first`` on.

    Only the first group's two levels are used: further levels depend on how the layout is latched, so characters on
    them are typed by a borrowed key instead.
    """

    first: int
    width: int
    keysyms: tuple[int, ...]
    _strokes: dict[int, Stroke] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        strokes: dict[int, Stroke] = {}
        for at in range(0, len(self.keysyms), self.width):
            levels = self.keysyms[at : at + min(self.width, 2)]
            for level, keysym in enumerate(levels):
                if keysym != NO_SYMBOL:
                    strokes.setdefault(keysym, Stroke(self.first + at // self.width, shift=level == 1))
        object.__setattr__(self, "_strokes", strokes)

    def stroke(self, keysym: int) -> Stroke | None:
        """How to get a keysym, or None where the layout has it on neither of the two levels."""
        return self._strokes.get(keysym)

    def key(self, name: str) -> Stroke | None:
        """How to get a key by its keysym name, such as ``Return``."""
        keysym = named_keysym(name)
        return None if keysym is None else self.stroke(keysym)

    def spare(self) -> tuple[int, ...]:
        """Keycodes without any meaning, highest first: the low ones are more often given to special keys."""
        return tuple(
            self.first + at // self.width
            for at in range(len(self.keysyms) - self.width, -1, -self.width)
            if not any(self.keysyms[at : at + self.width])
        )


def named_keysym(name: str) -> int | None:
    """A keysym by name; single characters name themselves."""
    if len(name) == 1:
        return character_keysym(name)
    return getattr(keysymdef, f"XK_{name}", None)


def character_keysym(character: str) -> int:
    """The keysym that types a character: Latin-1 as it is, others by their code point."""
    code = ord(character)
    if character == "\n":
        return int(keysymdef.XK_Return)
    if character == "\t":
        return int(keysymdef.XK_Tab)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else _UNICODE | code


def segments(text: str, keymap: Keymap, spare: int) -> list[str]:
    """``text`` cut so that each piece needs at most ``spare`` borrowed keys.

    A borrowed key must not change its meaning while an application may not yet have looked at an earlier press.
    """
    pieces: list[str] = []
    start, needed = 0, set[int]()
    for at, character in enumerate(text):
        keysym = character_keysym(character)
        if keymap.stroke(keysym) is not None or keysym in needed:
            continue
        if len(needed) == spare:
            pieces.append(text[start:at])
            start, needed = at, set()
        needed.add(keysym)
    pieces.append(text[start:])
    return pieces


def borrowed(text: str, keymap: Keymap, spare: Sequence[int]) -> dict[int, int]:
    """Keysym → spare keycode for the characters of ``text`` that the layout lacks."""
    missing = dict.fromkeys(keysym for keysym in map(character_keysym, text) if keymap.stroke(keysym) is None)
    return dict(zip(missing, spare, strict=False))
