"""Keys as people write them, “Ctrl+Shift+T”, as modifiers and X keysym names. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MODIFIERS = {
    "ctrl": "control",
    "control": "control",
    "shift": "shift",
    "alt": "alt",
    "option": "alt",
    "super": "super",
    "win": "super",
    "windows": "super",
    "meta": "super",
    "cmd": "super",
}
_NAMED = {
    "enter": "Return",
    "return": "Return",
    "esc": "Escape",
    "escape": "Escape",
    "tab": "Tab",
    "space": "space",
    "backspace": "BackSpace",
    "del": "Delete",
    "delete": "Delete",
    "ins": "Insert",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pgup": "Page_Up",
    "pageup": "Page_Up",
    "pgdn": "Page_Down",
    "pgdown": "Page_Down",
    "pagedown": "Page_Down",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "print": "Print",
    "pause": "Pause",
    "menu": "Menu",
    "plus": "plus",
    "comma": "comma",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}
_BETWEEN = re.compile(r"[\s,]+")
MOST_PRESSES = 20


@dataclass(frozen=True, slots=True)
class Keys:
    """One press: modifiers ``control``, ``shift``, ``alt``, ``super``, and a key by its keysym name or character."""

    modifiers: tuple[str, ...]
    key: str


def read_keys(text: str) -> tuple[Keys, ...] | None:
    """The presses of “Ctrl+K Ctrl+S”, one after another; None where a part is no key."""
    parts = [part for part in _BETWEEN.split(text.strip()) if part]
    presses = [_read(part) for part in parts]
    if not presses or len(presses) > MOST_PRESSES:
        return None
    known = [press for press in presses if press is not None]
    return tuple(known) if len(known) == len(presses) else None


def _read(part: str) -> Keys | None:
    *held, key = part.split("+")
    modifiers = [_MODIFIERS.get(name.casefold(), "") for name in held]
    if "" in modifiers or len(set(modifiers)) < len(modifiers):
        return None
    if len(key) == 1 and key.isprintable():
        return Keys(tuple(modifiers), key.lower() if key.isascii() else key)
    named = _NAMED.get(key.casefold())
    return None if named is None else Keys(tuple(modifiers), named)
