"""How text gets into another program's window: typed or pasted, by which keys, and how it is taken back. Pure.

Typing leaves the clipboard alone, but is slow, sets off completion and automatic brackets, and needs a key for every
character. Pasting is quick and exact. So short text that the layout has keys for is typed, and all other is pasted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sayso.app.actions.desktop.base import IN_FRONT, Chord, Window
from sayso.app.actions.terminals import TerminalKind, terminal_kind

TYPED_MOST = 32
"""Characters; longer text is pasted."""
_NO_SPACE_AFTER = frozenset("([{\u201c\u2018\u00ab\u00bf\u00a1/")
_NO_SPACE_BEFORE = frozenset(".,;:!?%)]}\u201d\u2019\u00bb\u2026")
_WRITTEN_WITHOUT_SPACES = (
    *(range(0x0E00, 0x0F00), range(0x1780, 0x1800), range(0x2E80, 0xA000), range(0xF900, 0xFB00)),
    *(range(0xFF00, 0xFFF0), range(0x20000, 0x40000)),
)
"""Thai, Lao, Khmer, and what is written with Chinese characters or kana."""
_EDITORS_WITH_OTHER_KEYS = frozenset({"emacs", "gvim", "xemacs"})
"""Control+V means something else in them; Shift+Insert pastes."""
_REGIONAL = range(0x1F1E6, 0x1F200)
_SKIN = range(0x1F3FB, 0x1F400)
_HANGUL_PARTS = range(0x1100, 0x1200)

SHIFT_INSERT = Chord(("shift",), "Insert")
_CONTROL_V = Chord(("control",), "v")
_CONTROL_SHIFT_V = Chord(("control", "shift"), "v")


class Way(StrEnum):
    TYPE = "typed"
    PASTE = "pasted"


@dataclass(frozen=True, slots=True)
class Plan:
    """How one text goes into one window."""

    way: Way
    chord: Chord
    """Pastes there."""
    primary: bool
    """Whether that chord may paste what is selected (PRIMARY) instead of the clipboard."""
    reason: str
    """Why it is this way, in words for people who ask."""


def plan(text: str, window: Window, has_keys_for: Callable[[str], bool]) -> Plan:
    """Decide how ``text``, which ``clean`` has made, goes into ``window``."""
    chord, primary = _paste_keys(window)
    if window == IN_FRONT:
        return Plan(Way.TYPE, chord, primary, "which keys paste in the program in front is not known here")
    if "\n" in text or "\t" in text:
        return Plan(Way.PASTE, chord, primary, "keys would act on its line ends and tabs")
    if len(text) > TYPED_MOST:
        return Plan(Way.PASTE, chord, primary, f"it is longer than {TYPED_MOST} characters")
    if not has_keys_for(text):
        return Plan(Way.PASTE, chord, primary, "the keyboard's layout lacks some of its characters")
    return Plan(Way.TYPE, chord, primary, "it is short, and the keyboard's layout has all of it")


def clean(text: str, window: Window) -> str:
    """``text`` in composed form, without control characters but line ends and tabs; a terminal gets spaces for these.

    In a terminal a line end would be Enter, and run what was said; a tab would complete it. A window that cannot be
    seen may be one.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(character for character in lines if character in "\n\t" or not _is_unprintable(character))
    composed = unicodedata.normalize("NFC", kept)
    acts = window == IN_FRONT or terminal_kind(window) is not TerminalKind.NONE
    return " ".join(composed.split()) if acts else composed


def needs_space(before: str, text: str) -> bool:
    """Whether a text is set off by a space from the one that was inserted right before it."""
    if not before or not text:
        return False
    left, right = before[-1], text[0]
    if left.isspace() or right.isspace() or left in _NO_SPACE_AFTER or right in _NO_SPACE_BEFORE:
        return False
    return not _is_unspaced(left) and not _is_unspaced(right)


def backspaces(text: str) -> int | None:
    """How often Backspace must be pressed to remove ``text``.

    None where programs differ: a character of several code points, such as a flag or a letter with a mark on it, goes
    as a whole in one program and part by part in another.
    """
    return None if any(map(_joins_another, text)) else len(text)


def _paste_keys(window: Window) -> tuple[Chord, bool]:
    match terminal_kind(window):
        case TerminalKind.PLAIN:
            return SHIFT_INSERT, True
        case TerminalKind.FULL:
            return _CONTROL_SHIFT_V, False
    if {window.application.casefold(), window.instance.casefold()} & _EDITORS_WITH_OTHER_KEYS:
        return SHIFT_INSERT, True
    return _CONTROL_V, False


def _is_unspaced(character: str) -> bool:
    return any(ord(character) in block for block in _WRITTEN_WITHOUT_SPACES)


def _is_unprintable(character: str) -> bool:
    """Control characters, halves of surrogates, and the code points that are no characters."""
    code = ord(character)
    return unicodedata.category(character) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _joins_another(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
        or code in _REGIONAL
        or code in _SKIN
        or code in _HANGUL_PARTS
    )
