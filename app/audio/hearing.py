"""What one open microphone gives, judged on the thread that reads it, so that the event loop hears only of news.

A quiet room is no news: waking the event loop for it ten times a second costs more than all the judging. ``take`` runs
on the reading thread, everything else on the event loop; a lock keeps the two apart for the moment that judging takes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from sayso.app.audio.continuity import Continuity
from sayso.app.audio.gate import GateEvent, GateOptions, Voiced
from sayso.app.audio.level import Level, looks_different
from sayso.app.audio.pipeline import Pipeline, Samples
from sayso.app.snapshot import MicrophoneState

_MOST_WAITING_S = 60.0
"""Audio of which a busy event loop may leave the news uncollected before more is refused, and told as missed."""


@dataclass(frozen=True, slots=True)
class Dated:
    """An event of the gate; ``at`` is the time of its sample in seconds since the epoch, 0 where it has none."""

    event: GateEvent
    at: float


@dataclass(frozen=True, slots=True)
class Heard:
    """The news of one block, which came at ``at_s`` on the clock.

    ``missed_s`` is sound lost before it, mostly 0; ``level`` is None while it looks as it did.
    """

    at_s: float
    state: MicrophoneState
    level: Level | None
    missed_s: float
    events: tuple[Dated, ...]


class Hearing:
    """Judges the blocks of one stream. ``tell`` is called on the reading thread whenever there is something to collect.

    ``clock`` gives seconds and stands still while the computer sleeps, ``epoch`` gives seconds since the epoch; both
    are called on the reading thread.
    """

    def __init__(
        self,
        rate: int,
        channels: int,
        options: GateOptions,
        tell: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        epoch: Callable[[], float] = time.time,
    ) -> None:
        self._rate = rate
        self._pipeline = Pipeline(rate, channels, options)
        self._continuity = Continuity(rate)
        self._tell = tell
        self._clock = clock
        self._epoch = epoch
        self._lock = threading.Lock()
        self._news: deque[Heard] = deque()
        self._waiting = self._refused = 0
        """Frames whose news wait, and frames that were not judged since too many did."""
        self._closed = False
        self._state_told: MicrophoneState | None = None
        self._level_told: Level | None = None
        self._blocks = 0
        self._heard_s = 0.0

    @property
    def blocks(self) -> int:
        """How many have come so far."""
        return self._blocks

    @property
    def heard_s(self) -> float:
        """When the last one came, on ``clock``; 0 before the first."""
        return self._heard_s

    @property
    def hears_voice(self) -> bool:
        """Whether an utterance is open."""
        return self._pipeline.hears_voice

    def press(self) -> None:
        """From now on all is one utterance, voice or not, until ``release``."""
        with self._lock:
            self._pipeline.press()

    def release(self) -> None:
        """End the utterance that ``press`` began, after a tail."""
        with self._lock:
            self._pipeline.release()

    def expedite(self) -> None:
        """What was heard is complete already: wait less for the end of the utterance."""
        with self._lock:
            self._pipeline.expedite()

    def set_options(self, options: GateOptions) -> None:
        """Decide by these from the next frame on."""
        with self._lock:
            self._pipeline.set_options(options)

    def take(self, block: Samples) -> bool:
        """Judge a block of shape (frames, channels); whether nobody speaks, so that the next one may be longer."""
        with self._lock:
            if self._closed:
                return True
            self._blocks += 1
            self._heard_s = now_s = self._clock()
            missed_s = self._continuity.feed(len(block), now_s)
            if self._waiting > self._rate * _MOST_WAITING_S:
                self._refused += len(block)
                return True
            missed_s += self._refused / self._rate
            self._refused = 0
            level, events = self._pipeline.feed(block)
            heard = Heard(now_s, self._state, level, missed_s, self._dated(events))
            calm = not self._pipeline.hears_voice
            told = self._put(heard, len(block))
        if told:
            self._tell()
        return calm

    def collect(self) -> list[Heard]:
        """All news since the last call, in order."""
        with self._lock:
            news = list(self._news)
            self._news.clear()
            self._waiting = 0
        return news

    def close(self) -> tuple[Dated, ...]:
        """Nothing more will come, and what does is not judged: the end of an open utterance, after the news."""
        with self._lock:
            self._closed = True
            return self._dated(self._pipeline.close())

    @property
    def _state(self) -> MicrophoneState:
        if self._pipeline.hears_voice:
            return MicrophoneState.HEARING
        return MicrophoneState.NO_SIGNAL if self._pipeline.no_signal else MicrophoneState.READY

    def _dated(self, events: list[GateEvent]) -> tuple[Dated, ...]:
        now = self._epoch()
        return tuple(
            Dated(event, 0.0 if isinstance(event, Voiced) else now - self._pipeline.age_s(event.sample))
            for event in events
        )

    def _put(self, heard: Heard, frames: int) -> bool:
        """Keep it for the event loop if it is news."""
        changed = self._state_told is not heard.state
        level = heard.level if changed or self._looks_new(heard.level) else None
        if not changed and level is None and not heard.missed_s and not heard.events:
            return False
        self._state_told, self._level_told = heard.state, level or self._level_told
        self._news.append(replace(heard, level=level))
        self._waiting += frames
        return True

    def _looks_new(self, level: Level | None) -> bool:
        told = self._level_told
        if level is None or told is None:
            return level is not None
        return level.clipping is not told.clipping or looks_different(level.db, told.db)
