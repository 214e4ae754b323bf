"""What every kind of desktop's keys offer, and what they tell. All of it runs on the event loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sayso.app.errors import AppError
from sayso.app.hotkeys.shortcut import Shortcut

BY_COMMAND = (
    "Bind “sayso toggle” (or “sayso start” and “sayso stop”) to a key in your desktop's keyboard settings instead."
)
"""What always works."""


class HotkeyError(AppError):
    """Codes: bad_key, key_taken, no_such_key, keys_refused, keys_unavailable, display_lost."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """The key went down; told once, however long it repeats."""


@dataclass(frozen=True, slots=True)
class Released:
    """The key went up. ``seen`` is False where that was found out only by looking."""

    seen: bool = True


@dataclass(frozen=True, slots=True)
class Escaped:
    """Esc was pressed while the key was held."""


@dataclass(frozen=True, slots=True)
class KeysLost:
    """The key is no longer watched; ``reason`` says why, in words for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class KeysFound:
    """The key that was lost is watched again; ``name`` is what ``Hotkeys.use`` gives."""

    name: str = ""


KeyEvent = Pressed | Released | Escaped | KeysLost | KeysFound


class Hotkeys(Protocol):
    """One key at a time."""

    tells_escape: bool
    """Whether Esc is told while the key is held."""

    async def use(self, shortcut: Shortcut | None, purpose: str) -> str:
        """Watch this key and no other from now on; None watches none.

        ``purpose`` is what the key does, for desktops that show it. Gives how the desktop names the key where it
        chooses it by itself, else nothing. Raises HotkeyError, and then watches none.
        """

    def close(self) -> None:
        """Give the key back."""
