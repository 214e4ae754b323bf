"""Owns selections and hands out what they hold to every program that asks (ICCCM 2.2 to 2.7). Its thread's caller."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import xcffib
from xcffib.xproto import (
    CW,
    Atom,
    EventMask,
    Property,
    PropertyNotifyEvent,
    PropMode,
    SelectionClearEvent,
    SelectionNotifyEvent,
    SelectionRequestEvent,
)

from sayso.app.actions.desktop.x11_clip import CHUNK, Clip, Content, pieces
from sayso.app.actions.desktop.x11_events import X11Events
from sayso.app.actions.errors import ActionError

_NONE = 0
_GIVEN_UP_S = 30.0
"""A program that has not taken a piece for so long is not waited for any more."""


@dataclass(slots=True)
class _Held:
    clip: Clip
    since: int
    """The server's clock."""


@dataclass(slots=True)
class _Delivery:
    """Contents on their way to a program's window, until it deletes the property that they came in."""

    selection: int
    requestor: int
    place: int
    content: Content
    rest: list[bytes] = field(default_factory=list)
    """Pieces still to be sent."""
    moved_at: float = field(default_factory=time.monotonic)


class SelectionOwner:
    """``on_read`` gets the selection and the window that has taken contents whole; ``on_lost`` the selection that
    another program owns now."""

    def __init__(self, events: X11Events, on_read: Callable[[int, int], None], on_lost: Callable[[int], None]) -> None:
        self._x = events
        self._on_read = on_read
        self._on_lost = on_lost
        self._held: dict[int, _Held] = {}
        self._deliveries: list[_Delivery] = []
        events.handlers.append(self._handle)

    def held(self, selection: int) -> Clip | None:
        """What we offer as a selection, None where it is not ours."""
        held = self._held.get(selection)
        return held.clip if held else None

    @property
    def delivering(self) -> bool:
        """Whether contents are on their way."""
        now = time.monotonic()
        self._deliveries = [each for each in self._deliveries if now - each.moved_at < _GIVEN_UP_S]
        return bool(self._deliveries)

    def own(self, selection: int, clip: Clip) -> None:
        """Offer ``clip``; programs that watch the selection are told, also where it was ours before."""
        since = self._x.now()
        self._held[selection] = _Held(clip, since)
        self._x.connection.core.SetSelectionOwner(self._x.window, selection, since)
        if self.owner(selection) != self._x.window:
            del self._held[selection]
            raise ActionError("clipboard_taken", "Another program keeps the clipboard to itself.")

    def exchange(self, selection: int, clip: Clip | None) -> None:
        """Offer something else, None for nothing, unless another program has become the owner meanwhile."""
        since = self._x.now()
        if self.owner(selection) != self._x.window:
            return
        if clip is None:
            self._held.pop(selection, None)
            self._x.connection.core.SetSelectionOwner(_NONE, selection, since)
            return
        self._held[selection] = _Held(clip, since)
        self._x.connection.core.SetSelectionOwner(self._x.window, selection, since)

    def owner(self, selection: int) -> int:
        """The window that owns a selection, 0 for none."""
        return int(self._x.connection.core.GetSelectionOwner(selection).reply().owner)

    def _handle(self, event: Any) -> None:
        match event:
            case SelectionRequestEvent() if event.owner == self._x.window:
                self._answer(event)
            case SelectionClearEvent() if event.owner == self._x.window:
                if event.selection in self._held and self.owner(event.selection) != self._x.window:
                    del self._held[event.selection]
                    self._on_lost(event.selection)
            case PropertyNotifyEvent() if event.state == Property.Delete:
                self._deleted(event.window, event.atom)

    def _answer(self, event: SelectionRequestEvent) -> None:
        held = self._held.get(event.selection)
        place = event.property or event.target  # What obsolete clients mean by no property.
        try:
            if held is None or not self._convert(held, event.selection, event.requestor, event.target, place):
                place = _NONE
            answer = SelectionNotifyEvent.synthetic(event.time, event.requestor, event.selection, event.target, place)
            sending = self._x.connection.core.SendEvent(
                False, event.requestor, EventMask.NoEvent, answer.pack(), is_checked=True
            )
            sending.check()
        except xcffib.Error:  # The window has closed, or what it asked makes no sense.
            self._forget(event.requestor)

    def _convert(self, held: _Held, selection: int, requestor: int, target: int, place: int) -> bool:
        """Put what a target names into a property of the one who asks; False where it is not offered."""
        content = held.clip.contents.get(target)
        if content is not None:
            self._deliver(_Delivery(selection, requestor, place, content))
            return True
        match self._x.name(target):
            case "TARGETS":
                own = [self._x.atom(name) for name in ("TARGETS", "TIMESTAMP", "MULTIPLE")]
                self._put(requestor, place, _numbers(int(Atom.ATOM), [*own, *held.clip.targets]))
            case "TIMESTAMP":
                self._put(requestor, place, _numbers(int(Atom.INTEGER), [held.since]))
            case "SAVE_TARGETS":
                self._put(requestor, place, Content(self._x.atom("NULL"), 32, b""))
            case "MULTIPLE":
                return self._convert_each(held, selection, requestor, place)
            case _:
                return False
        return True

    def _convert_each(self, held: _Held, selection: int, requestor: int, place: int) -> bool:
        """Answer several requests at once: pairs of target and property, in which None marks the failed ones."""
        reply = self._x.connection.core.GetProperty(False, requestor, place, Atom.Any, 0, CHUNK // 4).reply()
        raw = bytes(reply.value.buf())
        if reply.format != 32 or len(raw) % 8:
            return False
        pairs = list(struct.iter_unpack("=II", raw))
        results: list[int] = []
        multiple = self._x.atom("MULTIPLE")
        for target, where in pairs:
            done = where and target != multiple and self._convert(held, selection, requestor, target, where)
            results += [target, where if done else _NONE]
        self._put(requestor, place, _numbers(self._x.atom("ATOM_PAIR"), results))
        return True

    def _deliver(self, delivery: _Delivery) -> None:
        attributes = self._x.connection.core.ChangeWindowAttributes(
            delivery.requestor, CW.EventMask, [EventMask.PropertyChange], is_checked=True
        )
        attributes.check()
        content = delivery.content
        if len(content.data) > CHUNK:
            delivery.rest = pieces(content.data)
            content = _numbers(self._x.atom("INCR"), [len(content.data)])
        self._put(delivery.requestor, delivery.place, content)
        self._deliveries.append(delivery)

    def _deleted(self, window: int, place: int) -> None:
        """A program has taken a property's value: the next piece follows, or it has all."""
        found = next((each for each in self._deliveries if (each.requestor, each.place) == (window, place)), None)
        if found is None:
            return
        found.moved_at = time.monotonic()
        if found.rest:
            piece = Content(found.content.type, found.content.width, found.rest.pop(0))
            try:
                self._put(window, place, piece)
            except xcffib.Error:
                self._forget(window)
            return
        self._deliveries.remove(found)
        if not any(each.requestor == window for each in self._deliveries):
            self._x.connection.core.ChangeWindowAttributes(window, CW.EventMask, [EventMask.NoEvent])
        self._on_read(found.selection, window)

    def _put(self, window: int, place: int, content: Content) -> None:
        core = self._x.connection.core
        putting = core.ChangeProperty(
            *(PropMode.Replace, window, place, content.type, content.width, content.items, content.data),
            is_checked=True,
        )
        putting.check()

    def _forget(self, requestor: int) -> None:
        """A window that has closed takes nothing more."""
        self._deliveries = [each for each in self._deliveries if each.requestor != requestor]


def _numbers(kind: int, numbers: list[int]) -> Content:
    return Content(kind, 32, struct.pack(f"={len(numbers)}I", *numbers))
