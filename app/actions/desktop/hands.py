"""Whether windows were used by hand since they are watched, from what a display tells of keys, buttons and focus. Pure.

Of a key nothing counts but that it was pressed. One that a program has reserved for itself everywhere, such as Alt+Tab
or the key to speak, takes the keyboard away in the same moment and never reaches the window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Source(Enum):
    """Where a press came from."""

    DEVICE = "device"
    """A keyboard or mouse: certainly somebody's hand."""
    MADE = "made"
    """Another program, which may have been ourselves."""


class Focus(Enum):
    """What became of a window's keyboard."""

    GAINED = "gained"
    LOST = "lost"
    RESERVED = "reserved"
    """A reserved key was pressed, and keys go to its program for now."""
    RETURNED = "returned"
    """They do no more."""


@dataclass(slots=True)
class _Watched:
    focused: bool
    reserved: bool = False
    pressed: set[Source] = field(default_factory=set)
    """Of keys that may still turn out to be reserved ones."""
    used: set[Source] = field(default_factory=set)


class Hands:
    """All methods belong to one thread."""

    def __init__(self) -> None:
        self._windows: dict[int, _Watched] = {}

    def watch(self, window: int, *, focused: bool) -> None:
        """Note from now on what is done in a window; of before, only what came from a device still counts."""
        before = self._windows.get(window)
        used = before.used & {Source.DEVICE} if before is not None else set[Source]()
        self._windows[window] = _Watched(focused, used=used)

    def forget(self, window: int) -> None:
        self._windows.pop(window, None)

    def untouched(self, window: int) -> bool:
        """True only for a window that is watched and was not used since."""
        watched = self._windows.get(window)
        return watched is not None and not watched.used

    @property
    def waiting(self) -> bool:
        """Whether a press could still make a difference."""
        return any(not each.used for each in self._windows.values())

    def key(self, source: Source) -> None:
        """A key that is no modifier was pressed."""
        for each in self._windows.values():
            if each.focused and not each.reserved:
                each.pressed.add(source)

    def button(self, window: int, source: Source) -> None:
        """A button was pressed over a window."""
        if window in self._windows:
            self._windows[window].used.add(source)

    def focus(self, window: int, change: Focus) -> None:
        watched = self._windows.get(window)
        if watched is None:
            return
        match change:
            case Focus.RESERVED:
                watched.reserved = True
                watched.pressed.clear()
            case Focus.RETURNED:
                watched.reserved = False
            case _:
                watched.focused, watched.reserved = change is Focus.GAINED, False

    def settle(self) -> None:
        """All that belongs to the keys told so far has been told."""
        for each in self._windows.values():
            each.used |= each.pressed
            each.pressed.clear()
