"""A key with its modifiers as a value: its text for people and for the settings, and whether it is fit. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MODIFIERS = ("Ctrl", "Alt", "Shift", "Super")
_NAMED = {
    "Space": "space",
    "Pause": "Pause",
    "ScrollLock": "Scroll_Lock",
    "Menu": "Menu",
    "Print": "Print",
    "Help": "Help",
    "Esc": "Escape",
    "Ins": "Insert",
    "Del": "Delete",
    "Home": "Home",
    "End": "End",
    "PgUp": "Prior",
    "PgDown": "Next",
    "Left": "Left",
    "Right": "Right",
    "Up": "Up",
    "Down": "Down",
    "Return": "Return",
    "Enter": "KP_Enter",
    "Backspace": "BackSpace",
    "Tab": "Tab",
    "Media Play": "XF86AudioPlay",
    "Media Record": "XF86AudioRecord",
    "Media Stop": "XF86AudioStop",
    "Media Next": "XF86AudioNext",
    "Media Previous": "XF86AudioPrev",
    "Microphone Mute": "XF86AudioMicMute",
    "Calculator": "XF86Calculator",
    "Favorites": "XF86Favorites",
    "Home Page": "XF86HomePage",
    **{f"F{number}": f"F{number}" for number in range(1, 36)},
}
"""Names in Qt's portable form, and those of X."""
_FIT_ALONE = frozenset(
    name for name in _NAMED if (name[0] == "F" and name[1:].isdecimal()) or name.startswith(("Media", "Microphone"))
) | {"Pause", "ScrollLock", "Menu", "Print", "Help", "Calculator", "Favorites", "Home Page"}
_IN_EVERY_PROGRAM = frozenset("ACFSVXYZ")
"""With Ctrl alone these copy, paste, save, …"""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """``modifiers`` of ``MODIFIERS`` in their order; ``key`` a capital letter, another character, or a name."""

    modifiers: tuple[str, ...]
    key: str

    @classmethod
    def read(cls, text: str) -> Shortcut | None:
        """The shortcut of a text such as “Ctrl+Alt+Space”; None for a text that is none."""
        rest, held = text, set[str]()
        while (name := rest.partition("+")[0]) in MODIFIERS and "+" in rest:
            held.add(name)
            rest = rest.partition("+")[2]
        key = rest.upper() if len(rest) == 1 else rest
        if key not in _NAMED and not (len(key) == 1 and key.isprintable() and key != " "):
            return None
        return cls(tuple(name for name in MODIFIERS if name in held), key)

    @property
    def text(self) -> str:
        """As ``read`` takes it and people know it."""
        return "+".join((*self.modifiers, self.key))

    @property
    def keysym(self) -> str:
        """The name that X has for the key; a character names itself."""
        return _NAMED.get(self.key, self.key.lower())

    @property
    def unfit(self) -> str:
        """Why this key cannot be taken from all programs, in words for people; empty where it can."""
        strong = set(self.modifiers) - {"Shift"}
        if not strong and self.key not in _FIT_ALONE:
            return (
                f"“{self.text}” is needed for typing. Hold Ctrl, Alt or Super with it, or take a key such as Pause "
                "or F9."
            )
        if self.modifiers == ("Ctrl",) and self.key in _IN_EVERY_PROGRAM:
            return f"“{self.text}” is needed in every program. Add another modifier or take another key."
        return ""
