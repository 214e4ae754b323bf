"""Keeps speech from going on while a microphone is checked: what is recorded and played back is meant for nobody. Pure.

The microphone's level and state go on as ever. An utterance that is open when the muffling begins ends there, and one
that began while it lasted is dropped whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sayso.app.audio.listener import ListenerEvent, SpeechAudio, SpeechEnded, SpeechMissed, SpeechStarted


class Muffler:
    """Stands between a listener and whoever hears it."""

    def __init__(self, on_event: Callable[[ListenerEvent], None], clock: Callable[[], float] = time.time) -> None:
        """``clock`` gives seconds since the epoch, as the events' times are."""
        self._on_event = on_event
        self._clock = clock
        self._muffled = False
        self._passing = False

    def muffle(self, on: bool) -> None:
        self._muffled = on
        if on and self._passing:
            self._passing = False
            self._on_event(SpeechEnded(self._clock()))

    def __call__(self, event: ListenerEvent) -> None:
        match event:
            case SpeechStarted():
                self._passing = not self._muffled
                if not self._passing:
                    return
            case SpeechAudio() if not self._passing:
                return
            case SpeechMissed() if self._muffled:
                return
            case SpeechEnded() if not self._passing:
                return
            case SpeechEnded():
                self._passing = False
        self._on_event(event)
