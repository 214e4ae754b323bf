"""Notes whether keys or buttons are used by hand in a window, by XInput's raw events. No key's meaning is looked at.

A thread with a connection of its own listens from the first ``watch`` on, and only while the next press could make a
difference: for a window that was used once, nothing more has to be known. The other methods belong to one worker
thread at a time.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

import xcffib
import xcffib.xinput
import xcffib.xproto
from xcffib.xproto import CW, EventMask, NotifyDetail, NotifyMode

from sayso.app.actions.desktop.hands import Focus, Hands, Source
from sayso.app.actions.desktop.x11_events import X11Events
from sayso.app.actions.desktop.x11_thread import X11Thread
from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)

_MASTERS = 1
"""XIAllMasterDevices: each press comes once, with the number of the device it came from."""
_LISTENED = (
    xcffib.xinput.XIEventMask.RawKeyPress
    | xcffib.xinput.XIEventMask.RawButtonPress
    | xcffib.xinput.XIEventMask.RawTouchBegin
)
_WHEEL = (4, 5, 6, 7)
_NO_FOCUS = (0, 1)
_BY_THE_ROOT = (NotifyDetail.Ancestor, NotifyDetail.Virtual)
"""Keys reserved everywhere are grabbed on the root window, which is above all; a program's own menus are not."""
_CLOSE_S = 2.0


class X11Hands:
    """See the module. Where the display cannot tell, no window counts as untouched."""

    def __init__(self, display: str) -> None:
        self._display = display
        self._watcher: _Watcher | None = None

    def watch(self, window: int, halt: threading.Event) -> None:
        """Note from now on what is done in a window; of before, only what came from a device still counts."""
        try:
            if self._watcher is None or not self._watcher.thread.alive:
                self._watcher = _Watcher(self._display)
            watcher = self._watcher
            watcher.thread.do(lambda: watcher.watch(window), halt)
        except ActionError as error:
            if error.code == "cancelled":
                raise
            log.info("hands are not watched: %s", error.code)

    def untouched(self, window: int, halt: threading.Event) -> bool:
        """True only for a window that is watched, is still there, and in which no key or button was used since."""
        found: list[bool] = []
        watcher = self._watcher
        if watcher is None:
            return False
        try:
            watcher.thread.do(lambda: found.append(watcher.untouched(window)), halt)
        except ActionError as error:
            if error.code == "cancelled":
                raise
            return False
        return found[0]

    def forget(self, window: int) -> None:
        """Nothing has to be known of a window any more."""
        watcher = self._watcher
        if watcher is not None and watcher.thread.alive:
            watcher.thread.post(lambda: watcher.forget(window))

    def close(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None and watcher.thread.alive:
            watcher.thread.post(watcher.thread.end)
            watcher.thread.join(_CLOSE_S)


class _Watcher:
    """The thread with its connection. All methods run in it."""

    def __init__(self, display: str) -> None:
        self._events = X11Events(display)
        try:
            self._input = self._events.connection(xcffib.xinput.key)
            self._input.XIQueryVersion(2, 2).reply()
            self._made_by = self._devices_of_programs()
            self._modifiers = self._modifier_keys()
        except (xcffib.Error, xcffib.XcffibException, KeyError) as error:
            self._events.close()
            raise ActionError("no_raw_input", "This display does not tell whether keys were used.") from error
        self._hands = Hands()
        self._listening = False
        self._unsettled = False
        self._events.handlers.append(self._take)
        self.thread = X11Thread(self._events, "hands", self._after_events)
        self.thread.start()

    @property
    def _root(self) -> int:
        connection = self._events.connection
        return int(connection.get_setup().roots[connection.pref_screen].root)

    def watch(self, window: int) -> None:
        self._catch_up()
        core, mask = self._events.connection.core, EventMask.FocusChange | EventMask.StructureNotify
        try:
            core.ChangeWindowAttributes(window, CW.EventMask, [mask], is_checked=True).check()
            self._hands.watch(window, focused=self._has_focus(window))
        except xcffib.xproto.WindowError:
            self._hands.forget(window)
        self._listen()

    def untouched(self, window: int) -> bool:
        self._catch_up()
        return self._hands.untouched(window)

    def forget(self, window: int) -> None:
        self._hands.forget(window)
        self._listen()

    def _after_events(self) -> None:
        if self._unsettled:
            self._catch_up()
            self._listen()

    def _catch_up(self) -> None:
        """Handle all that has happened until now: what a key sets off comes right behind it."""
        self._unsettled = True
        while self._unsettled:
            self._unsettled = False
            self._events.connection.core.GetInputFocus().reply()
            self._events.pump(lambda: True)
        self._hands.settle()

    def _listen(self) -> None:
        wanted = self._hands.waiting
        if wanted != self._listening:
            self._listening = wanted
            mask = xcffib.xinput.EventMask.synthetic(_MASTERS, 1, [_LISTENED if wanted else 0])
            self._input.XISelectEvents(self._root, 1, [mask], is_checked=True).check()

    def _take(self, event: Any) -> None:
        match event:
            case xcffib.xinput.RawKeyPressEvent() if event.detail not in self._modifiers:
                self._hands.key(self._source(event))
                self._stir()
            case xcffib.xinput.RawButtonPressEvent() if event.detail not in _WHEEL:
                self._press(event)
            case xcffib.xinput.RawTouchBeginEvent():
                self._press(event)
            case xcffib.xproto.FocusOutEvent() | xcffib.xproto.FocusInEvent():
                self._focus(event)
            case xcffib.xproto.DestroyNotifyEvent():
                # Its number may be given to another window.
                self._hands.forget(event.window)
            case xcffib.xproto.MappingNotifyEvent():
                self._modifiers = self._modifier_keys()

    def _stir(self) -> None:
        self._unsettled = True
        self.thread.stir()

    def _press(self, event: Any) -> None:
        """Count a press for the innermost windows under the pointer and those around them, frames included."""
        core, at = self._events.connection.core, self._root
        while at:
            self._hands.button(at, self._source(event))
            at = int(core.QueryPointer(at).reply().child)
        self._stir()

    def _focus(self, event: Any) -> None:
        if event.detail in (NotifyDetail.Inferior, NotifyDetail.Pointer):
            # The keyboard moves inside the window, or follows the pointer for a window that has none.
            return
        out = isinstance(event, xcffib.xproto.FocusOutEvent)
        match event.mode:
            case NotifyMode.Grab if out and event.detail in _BY_THE_ROOT:
                self._hands.focus(event.event, Focus.RESERVED)
            case NotifyMode.Ungrab if not out:
                self._hands.focus(event.event, Focus.RETURNED)
            case NotifyMode.Normal | NotifyMode.WhileGrabbed:
                self._hands.focus(event.event, Focus.LOST if out else Focus.GAINED)

    def _source(self, event: Any) -> Source:
        return Source.MADE if event.sourceid in self._made_by else Source.DEVICE

    def _has_focus(self, window: int) -> bool:
        core = self._events.connection.core
        focus = int(core.GetInputFocus().reply().focus)
        while focus not in (*_NO_FOCUS, self._root):
            if focus == window:
                return True
            focus = int(core.QueryTree(focus).reply().parent)
        return False

    def _devices_of_programs(self) -> frozenset[int]:
        """The devices that stand for presses which programs make (XTEST)."""
        every = 0
        infos = self._input.XIQueryDevice(every).reply().infos
        return frozenset(int(each.deviceid) for each in infos if "XTEST" in bytes(each.name.buf()).decode("latin-1"))

    def _modifier_keys(self) -> frozenset[int]:
        codes = self._events.connection.core.GetModifierMapping().reply().keycodes
        return frozenset(int(each) for each in codes if each)
