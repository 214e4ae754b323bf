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
    DestroyNotifyEvent,
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
_LEFT_LYING_S = 2.0
"""The same for contents that came whole."""


@dataclass(slots=True)
class _Held:
    clip: Clip
    since: int
    """The server's clock."""


@dataclass(slots=True)
class _Delivery:
    """An answer in a property of another program's window, until it deletes that or closes a window that it made only
    to ask, as GTK does: then it has taken it.

    Large contents go piece by piece, each when the one before was taken (INCR). Several may be on their way through one
    property: GTK asks for a text before it deletes the list of formats. They are taken in their order.
    """

    requestor: int
    place: int
    content: Content
    clip: Clip | None = None
    """What the contents are part of; None for an answer about them."""
    rest: list[bytes] = field(default_factory=list)
    """Pieces still to be sent."""
    moved_at: float = field(default_factory=time.monotonic)

    @property
    def is_open(self) -> bool:
        """Whether it is still waited for; some programs delete the property only when they ask the next time."""
        return time.monotonic() - self.moved_at < (_GIVEN_UP_S if self.rest else _LEFT_LYING_S)


class SelectionOwner:
    """``on_handed`` gets the window that was given contents, all of them, and the clip that they are part of;
    ``on_taken`` the same when its program has deleted them, having read them; ``on_lost`` the selection that another
    program owns now."""

    def __init__(
        self,
        events: X11Events,
        on_handed: Callable[[int, Clip], None],
        on_taken: Callable[[int, Clip], None],
        on_lost: Callable[[int], None],
    ) -> None:
        self._x = events
        self._on_handed = on_handed
        self._on_taken = on_taken
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
        self._deliveries = [each for each in self._deliveries if each.is_open]
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
            case DestroyNotifyEvent():
                self._destroyed(event.window)

    def _answer(self, event: SelectionRequestEvent) -> None:
        held = self._held.get(event.selection)
        place = event.property or event.target  # What obsolete clients mean by no property.
        try:
            if held is None or not self._convert(held, event.requestor, event.target, place):
                place = _NONE
            answer = SelectionNotifyEvent.synthetic(event.time, event.requestor, event.selection, event.target, place)
            sending = self._x.connection.core.SendEvent(
                False, event.requestor, EventMask.NoEvent, answer.pack(), is_checked=True
            )
            sending.check()
        except xcffib.Error:  # The window has closed, or what it asked makes no sense.
            self._forget(event.requestor)

    def _convert(self, held: _Held, requestor: int, target: int, place: int) -> bool:
        """Put what a target names into a property of the one who asks; False where it is not offered."""
        content = held.clip.contents.get(target)
        if content is not None:
            self._deliver(_Delivery(requestor, place, content, held.clip))
            return True
        match self._x.name(target):
            case "TARGETS":
                own = [self._x.atom(name) for name in ("TARGETS", "TIMESTAMP", "MULTIPLE")]
                answer = _numbers(int(Atom.ATOM), [*own, *held.clip.targets])
            case "TIMESTAMP":
                answer = _numbers(int(Atom.INTEGER), [held.since])
            case "SAVE_TARGETS":
                answer = Content(self._x.atom("NULL"), 32, b"")
            case "MULTIPLE":
                return self._convert_each(held, requestor, place)
            case _:
                return False
        self._deliver(_Delivery(requestor, place, answer))
        return True

    def _convert_each(self, held: _Held, requestor: int, place: int) -> bool:
        """Answer several requests at once: pairs of target and property, in which None marks the failed ones."""
        reply = self._x.connection.core.GetProperty(False, requestor, place, Atom.Any, 0, CHUNK // 4).reply()
        raw = bytes(reply.value.buf())
        if reply.format != 32 or len(raw) % 8:
            return False
        pairs = list(struct.iter_unpack("=II", raw))
        results: list[int] = []
        multiple = self._x.atom("MULTIPLE")
        for target, where in pairs:
            done = where and target != multiple and self._convert(held, requestor, target, where)
            results += [target, where if done else _NONE]
        self._deliver(_Delivery(requestor, place, _numbers(self._x.atom("ATOM_PAIR"), results)))
        return True

    def _deliver(self, delivery: _Delivery) -> None:
        content, window, place = delivery.content, delivery.requestor, delivery.place
        watching = self._x.connection.core.ChangeWindowAttributes(
            window, CW.EventMask, [EventMask.PropertyChange | EventMask.StructureNotify], is_checked=True
        )
        watching.check()
        self._deliveries = [*(each for each in self._deliveries if each.is_open), delivery]
        if len(content.data) > CHUNK:
            delivery.rest = pieces(content.data)
            content = _numbers(self._x.atom("INCR"), [len(content.data)])
        self._put(window, place, content)
        if not delivery.rest and delivery.clip is not None:
            self._on_handed(window, delivery.clip)

    def _deleted(self, window: int, place: int) -> None:
        """A program has taken what was in a property: the next piece follows, at the end an empty one."""
        found = next((each for each in self._deliveries if (each.requestor, each.place) == (window, place)), None)
        if found is None:
            return
        found.moved_at = time.monotonic()
        if not found.rest:
            self._deliveries.remove(found)
            if not any(each.requestor == window for each in self._deliveries):
                self._x.connection.core.ChangeWindowAttributes(window, CW.EventMask, [EventMask.NoEvent])
            if found.clip is not None:
                self._on_taken(window, found.clip)
            return
        try:
            self._put(window, place, Content(found.content.type, found.content.width, found.rest.pop(0)))
        except xcffib.Error:  # The window has closed.
            self._forget(window)
            return
        if not found.rest and found.clip is not None:
            self._on_handed(window, found.clip)

    def _destroyed(self, window: int) -> None:
        """A program that closes the window in which it got something whole has taken it."""
        whole = [each for each in self._deliveries if each.requestor == window and not each.rest]
        self._forget(window)
        for each in whole:
            if each.clip is not None:
                self._on_taken(window, each.clip)

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
