"""What the settings window changes besides mode and server: in force at once, and kept. Runs on the event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from sayso.app.audio.errors import AudioError
from sayso.app.audio.listener import Listener
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import MicrophoneChoice, OptionsView
from sayso.app.ways_view import OverlayPlace


class Options:
    """Implements the settings window's intents; ``view`` is what it shows."""

    def __init__(
        self,
        store: SettingsStore,
        listener: Listener,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """``changed`` is told of every change; ``spawn`` runs work whose faults the user is to see.

        ``tell`` shows a passing message on the desktop.
        """
        self.tell = tell
        self._store = store
        self._listener = listener
        self._changed = changed
        self._spawn = spawn
        self._view = OptionsView()

    @property
    def view(self) -> OptionsView:
        settings = self._store.settings
        return replace(
            self._view,
            microphone=settings.microphone,
            wait_ms=settings.wait_ms,
            listens_at_start=settings.listens_at_start,
            overlay=settings.overlay,
            overlay_place=settings.overlay_place,
        )

    def use_microphone(self, name: str) -> None:
        self._store.change(microphone=name)
        # One that is not open stays so; it is opened when listening starts.
        if self._listener.is_running:
            self._spawn(self._listener.start(name))
        self._changed()

    def look_for_microphones(self) -> None:
        self._spawn(self._look())

    def set_wait_ms(self, wait_ms: int) -> None:
        self._store.change(wait_ms=wait_ms)
        self._listener.set_wait_ms(wait_ms)
        self._changed()

    def set_listens_at_start(self, on: bool) -> None:
        self._store.change(listens_at_start=on)
        self._changed()

    def set_overlay(self, on: bool) -> None:
        self._store.change(overlay=on)
        self._changed()

    def place_overlay(self, place: OverlayPlace) -> None:
        self._store.change(overlay_place=place)
        self._changed()

    async def _look(self) -> None:
        try:
            found = tuple(MicrophoneChoice(each.name, each.label) for each in await self._listener.microphones())
        except AudioError:
            # Why none can be listed is what the listener tells already, and this is asked every other second.
            found = ()
        if found != self._view.microphones:
            self._view = replace(self._view, microphones=found)
            self._changed()
