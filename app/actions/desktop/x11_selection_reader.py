"""Reads all that another program offers as a selection, in every format (ICCCM 2.4, 2.7.2). Its thread's caller.

Every wait is bounded: a program that does not answer must not keep what was said from being typed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from xcffib.xproto import Atom, Property, PropertyNotifyEvent, SelectionNotifyEvent

from sayso.app.actions.desktop.x11_clip import CHUNK, Clip, Content, is_contents
from sayso.app.actions.desktop.x11_events import X11Events

MOST_BYTES = 64 * 2**20
_READ_S = 3.0
"""For all formats together: some programs make each only when asked for it."""
_NONE = 0


class CannotKeepError(Exception):
    """What the selection holds cannot be read whole, so it could not be put back."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Until when and how much."""

    deadline: float
    most: int


class SelectionReader:
    """Asks the owner of a selection for what it offers."""

    def __init__(self, events: X11Events, seconds: float = _READ_S, most_bytes: int = MOST_BYTES) -> None:
        self._x = events
        self._seconds = seconds
        self._most = most_bytes

    def read(self, selection: int) -> Clip:
        """All formats of a selection that has an owner; CannotKeepError where it is too large or slow, or refused."""
        bounds = _Bounds(time.monotonic() + self._seconds, self._most)
        listed = self._convert(selection, self._x.atom("TARGETS"), bounds)
        if listed is None or listed.width != 32:
            raise CannotKeepError("its owner does not tell what it offers")
        contents: dict[int, Content] = {}
        left = self._most
        for target in dict.fromkeys(memoryview(listed.data).cast("I")):
            if target == _NONE or not is_contents(self._x.name(target)):
                continue
            content = self._convert(selection, target, _Bounds(bounds.deadline, left))
            if content is not None:
                contents[target] = content
                left -= len(content.data)
        return Clip(contents)

    def _convert(self, selection: int, target: int, bounds: _Bounds) -> Content | None:
        """One format; None where the owner refuses that one."""
        place = self._x.atom("_SAYSO_SELECTION")
        answers: list[int] = []
        grown: list[None] = []

        def note(event: Any) -> None:
            if isinstance(event, SelectionNotifyEvent) and (event.selection, event.target) == (selection, target):
                answers.append(int(event.property))
            elif isinstance(event, PropertyNotifyEvent) and (event.window, event.atom) == (self._x.window, place):
                grown.extend([None] * (event.state == Property.NewValue))

        self._x.handlers.append(note)
        try:
            self._x.connection.core.DeleteProperty(self._x.window, place)
            self._x.connection.core.ConvertSelection(self._x.window, selection, target, place, self._x.now())
            if not self._x.pump(lambda: bool(answers), bounds.deadline):
                raise CannotKeepError("its owner does not answer")
            if answers[-1] == _NONE:
                return None
            grown.clear()
            content = self._take(place, bounds.most)
            if content.type == self._x.atom("INCR"):
                content = self._take_pieces(place, grown, bounds)
            return content
        finally:
            self._x.handlers.remove(note)

    def _take_pieces(self, place: int, grown: list[None], bounds: _Bounds) -> Content:
        """Contents that come piece by piece, each after the one before was taken, up to an empty one."""
        parts: list[bytes] = []
        size = 0
        while True:
            if not self._x.pump(lambda: bool(grown), bounds.deadline):
                raise CannotKeepError("its owner stopped in the middle")
            grown.pop(0)
            part = self._take(place, bounds.most - size)
            if not part.data:
                return Content(part.type, part.width or 8, b"".join(parts))
            parts.append(part.data)
            size += len(part.data)

    def _take(self, place: int, most: int) -> Content:
        """The property's value, which is deleted: that tells the owner that it was taken."""
        core, parts, at = self._x.connection.core, list[bytes](), 0
        while True:
            reply = core.GetProperty(False, self._x.window, place, Atom.Any, at // 4, CHUNK // 4).reply()
            part = bytes(reply.value.buf())
            parts.append(part)
            at += len(part)
            if at + reply.bytes_after > most:
                raise CannotKeepError("it is too large")
            if not reply.bytes_after:
                break
        core.DeleteProperty(self._x.window, place)
        return Content(int(reply.type), int(reply.format) or 8, b"".join(parts))
