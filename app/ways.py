"""The ways to listen: which one is in force, its key, and what the key does. Runs on the event loop.

What holding a key means is decided by ``hold_to_talk``; this file takes the key, carries the steps out, and tells why a
key does not work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from sayso.app.audio.listener import Listener
from sayso.app.clocks import now
from sayso.app.commander import Commander
from sayso.app.hold_to_talk import HoldToTalk, Step
from sayso.app.hotkeys import choose
from sayso.app.hotkeys.base import Escaped, HotkeyError, KeyEvent, KeysFound, KeysLost, Pressed, Released
from sayso.app.hotkeys.shortcut import Shortcut
from sayso.app.settings_store import SettingsStore
from sayso.app.ways_view import Way, WaysView

_TICK_S = 0.25
_SHORTCUTS = {Way.HANDS_FREE: "sleep_shortcut", Way.TOGGLE: "toggle_shortcut", Way.HOLD: "hold_shortcut"}
_PURPOSES = {
    Way.HANDS_FREE: "Send Sayso to sleep or wake it",
    Way.TOGGLE: "Start or stop listening",
    Way.HOLD: "Hold to talk",
}
KEY_NOTICE = "key"


class Desktop(Protocol):
    """What the ways ask of the controller."""

    @property
    def listening(self) -> bool:
        """Whether the microphone is meant to be open."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def toggle(self) -> None: ...
    def cancel(self) -> None: ...
    def notify(self, code: str, text: str) -> None: ...
    def dismiss(self, notice_code: str) -> None: ...
    def changed(self) -> None: ...
    def spawn(self, work: Coroutine[Any, Any, None]) -> None: ...


class Ways:
    """Implements the settings page's intents; ``view`` is what is shown."""

    def __init__(
        self,
        desktop: Desktop,
        store: SettingsStore,
        listener: Listener,
        commander: Commander,
        environment: Mapping[str, str],
    ) -> None:
        """``environment`` tells which kind of session gives the keys."""
        self._desktop = desktop
        self._store = store
        self._listener = listener
        self._commander = commander
        self._hotkeys = choose(environment, self.key)
        self._hold = HoldToTalk()
        self._ticking: asyncio.TimerHandle | None = None
        self._taking = asyncio.Lock()
        self._paused = False
        self._works = False
        self._detail = ""
        self._given = ""

    @property
    def view(self) -> WaysView:
        return WaysView(
            way=self._way,
            key=self._given or self._key_text,
            key_works=self._works,
            key_detail=self._detail,
            held=self._hold.held,
            drops_with_escape=self._hotkeys.tells_escape,
            phrase=self._store.settings.wake_phrase,
            asks_phrase=self._store.settings.asks_phrase,
            attentive=self._commander.attentive,
        )

    @property
    def _way(self) -> Way:
        return self._store.settings.way

    @property
    def _key_text(self) -> str:
        return str(getattr(self._store.settings, _SHORTCUTS[self._way]))

    @property
    def listens_at_start(self) -> bool:
        """Whether to listen as soon as Sayso runs; where a key starts it, nothing else does."""
        return self._store.settings.listens_at_start and self._way is not Way.TOGGLE

    def begin(self) -> None:
        """Listen in the way that was chosen, and take its key."""
        self._listener.set_by_voice(self._way is not Way.HOLD)
        self._tell_phrase()
        self._desktop.spawn(self._take_key())

    def close(self) -> None:
        """Take nothing more, and give the key back."""
        self._let_go()
        self._hotkeys.close()
        if self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None

    # What “sayso start” and its like ask for: where a key is held, they stand for its going down and up.

    def start(self) -> None:
        """Begin to listen, or to take what is said."""
        if self._way is not Way.HOLD:
            self._desktop.start()
        elif not self._hold.held:
            # A key that was not let go in time, or whose Esc was pressed, counts again after it went up.
            self._let_go()
            self.key(Pressed())

    def stop(self) -> None:
        """End what ``start`` began."""
        if self._hold.held:
            self.key(Released())
        else:
            self._desktop.stop()

    def toggle(self) -> None:
        """Start where nothing is taken, else stop."""
        if self._way is not Way.HOLD:
            self._desktop.toggle()
        elif self._hold.held:
            self.stop()
        else:
            self.start()

    # What the settings window asks for.

    def use_way(self, way: Way) -> None:
        if way is self._way:
            return
        self._let_go()
        self._store.change(way=way)
        self.begin()
        if way is Way.TOGGLE:
            self._desktop.stop()
        elif way is Way.HANDS_FREE:
            self._desktop.start()
        self._desktop.changed()

    def use_key(self, text: str) -> None:
        shortcut = Shortcut.read(text)
        problem = "" if not text else f"“{text}” is no key that Sayso knows." if shortcut is None else shortcut.unfit
        if problem:
            self._detail = problem
            self._desktop.changed()
            return
        self._let_go()
        self._store.change(**{_SHORTCUTS[self._way]: shortcut.text if shortcut else ""})
        self._desktop.spawn(self._take_key())

    def listen_for_key(self, on: bool) -> None:
        self._paused = on
        self._let_go()
        self._desktop.spawn(self._take_key())

    def set_phrase(self, phrase: str) -> None:
        self._store.change(wake_phrase=" ".join(phrase.split()))
        self._tell_phrase()

    def ask_phrase(self, on: bool) -> None:
        self._store.change(asks_phrase=on)
        self._tell_phrase()

    def _tell_phrase(self) -> None:
        settings = self._store.settings
        self._commander.use_phrase(settings.wake_phrase, asked=settings.asks_phrase and self._way is Way.HANDS_FREE)
        self._desktop.changed()

    # What the key and the microphone tell.

    def key(self, event: KeyEvent) -> None:
        """Something happened to the key."""
        match event:
            case Pressed():
                self._pressed()
            case Released(seen):
                self._do(self._hold.release(now(), seen=seen))
            case Escaped():
                self._do(self._hold.escape(now()))
            case KeysLost(reason):
                self._works, self._detail, self._given = False, reason, ""
                self._desktop.notify(KEY_NOTICE, reason)
            case KeysFound(name):
                self._works = True
                self._name_key(name)
                self._desktop.dismiss(KEY_NOTICE)
        self._desktop.changed()

    def utterance_ended(self) -> None:
        """The microphone told the end of an utterance."""
        self._do(self._hold.utterance_ended())

    def _pressed(self) -> None:
        listening = self._desktop.listening
        if self._way is Way.HOLD:
            self._do(self._hold.press(now(), listening=listening))
        elif not listening:
            self._desktop.start()
        elif self._way is Way.TOGGLE:
            self._desktop.stop()
        elif self._commander.asleep:
            self._commander.wake()
        else:
            self._commander.sleep()

    def _let_go(self) -> None:
        """End what is being taken, since its key is about to change."""
        self._do(self._hold.release(now()))

    def _do(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Step.OPEN:
                    self._desktop.start()
                case Step.BEGIN:
                    self._commander.wake()
                    self._commander.hold_back(True)
                    self._listener.press()
                case Step.DROP:
                    self._desktop.cancel()
                case Step.END:
                    self._listener.release()
                    self._commander.hold_back(False)
                case Step.CLOSE:
                    self._desktop.stop()
        if steps and self._hold.warning:
            self._desktop.notify(KEY_NOTICE, self._hold.warning)
        if self._ticking is None and not self._hold.idle:
            self._ticking = asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        steps = self._hold.tick(now())
        self._do(steps)
        if steps:
            self._desktop.changed()

    async def _take_key(self) -> None:
        async with self._taking:
            shortcut = None if self._paused else Shortcut.read(self._key_text)
            self._works, self._detail, self._given = False, "", ""
            try:
                self._name_key(await self._hotkeys.use(shortcut, _PURPOSES[self._way]))
                self._works = shortcut is not None
                self._desktop.dismiss(KEY_NOTICE)
            except HotkeyError as error:
                self._detail = str(error)
                self._desktop.notify(KEY_NOTICE, self._detail)
        self._desktop.changed()

    def _name_key(self, given: str) -> None:
        """The desktop's own name of the key, which may be another than was asked for; empty for that one.

        Some desktops give a sentence, which is no name.
        """
        self._given = "" if " " in given else given
        self._detail = f"The desktop gave “{given}”; its keyboard settings change it." if given else ""
