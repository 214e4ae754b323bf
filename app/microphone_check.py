"""The check of a microphone: three seconds are recorded, played back and forgotten. Runs on the event loop.

Listening goes on beside it, but what is said and played meanwhile is not transcribed, and so starts nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from sayso.app.audio.capture import SoundThread
from sayso.app.audio.errors import AudioError
from sayso.app.audio.level import Level
from sayso.app.audio.muffler import Muffler
from sayso.app.audio.sound_check import play, record, verdict
from sayso.app.microphone_check_view import CheckState, MicrophoneCheckView
from sayso.app.settings_store import SettingsStore

SECONDS = 3.0
_ECHO_S = 0.5
"""How long what was played may still be on its way through loudspeaker and microphone."""


class MicrophoneCheck:
    """``view`` is what the page shows; at most one check runs."""

    def __init__(
        self,
        store: SettingsStore,
        sound: SoundThread,
        muffler: Muffler,
        changed: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """``changed`` is told of every change; ``spawn`` runs work whose faults the user is to see."""
        self._store = store
        self._sound = sound
        self._muffler = muffler
        self._changed = changed
        self._spawn = spawn
        self._view = MicrophoneCheckView()
        self._running: asyncio.Task[None] | None = None

    @property
    def view(self) -> MicrophoneCheckView:
        return self._view

    def start_check(self) -> None:
        """Record the chosen microphone and play it back; nothing while a check runs."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._check(), name="microphone check")
            self._spawn(self._wait_for(self._running))

    def stop_check(self) -> None:
        """End the check that runs, and forget what it recorded."""
        if self._running is not None:
            self._running.cancel()

    async def _wait_for(self, running: asyncio.Task[None]) -> None:
        try:
            await asyncio.wait([running])
        finally:
            # Where Sayso ends, the check ends with it and gives its device back.
            running.cancel()
            await asyncio.wait([running])
        if not running.cancelled():
            running.result()

    async def _check(self) -> None:
        self._muffler.muffle(True)
        try:
            self._show(MicrophoneCheckView(CheckState.OPENING))
            recording = await record(self._sound, self._store.settings.microphone, SECONDS, self._level, self._opened)
            self._show(MicrophoneCheckView(CheckState.PLAYING))
            await play(self._sound, recording)
            await asyncio.sleep(_ECHO_S)
            self._show(MicrophoneCheckView(CheckState.DONE, detail=verdict(recording)))
        except AudioError as error:
            self._show(MicrophoneCheckView(CheckState.FAILED, detail=str(error)))
        finally:
            self._running = None
            self._muffler.muffle(False)
            if self._view.runs:
                self._show(MicrophoneCheckView())

    def _opened(self) -> None:
        self._show(MicrophoneCheckView(CheckState.RECORDING))

    def _level(self, level: Level) -> None:
        self._show(replace(self._view, level_db=level.db, clipping=level.clipping))

    def _show(self, view: MicrophoneCheckView) -> None:
        if view != self._view:
            self._view = view
            self._changed()
