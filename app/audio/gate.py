"""When an utterance starts and ends: a pure decision over frames, their voice probability and a key that is held.

No clock and no detector in here: time is counted in samples, so the same frames always give the same utterances.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sayso.app.audio.resample import SAMPLE_RATE
from sayso.app.audio.voice import FRAME

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Times are in milliseconds of audio, thresholds are voice probabilities."""

    onset: float = 0.5
    release: float = 0.35
    onset_ms: int = 64
    """Voice needed before an utterance starts; a key click is shorter."""
    pre_roll_ms: int = 400
    """Audio from before the onset that belongs to the utterance."""
    wait_ms: int = 550
    """Pause that ends an utterance."""
    expedited_wait_ms: int = 250
    """The same after ``expedite``: what was heard is a complete command already."""
    long_ms: int = 60_000
    """From this length on a short pause is enough, so that endless speech is cut between words."""
    long_wait_ms: int = 130
    max_ms: int = 120_000
    """An utterance this long is cut where it is, and the next one follows without a gap."""
    by_voice: bool = True
    """Whether a voice opens an utterance; without, only ``press`` does."""
    held_pre_roll_ms: int = 250
    """Audio from before ``press`` that belongs to the utterance: people speak while the key still goes down."""
    tail_ms: int = 250
    """Audio from after ``release`` that belongs to it: people let go within their last word."""


@dataclass(frozen=True, slots=True)
class Started:
    """An utterance has begun; ``sample`` is its first sample (pre-roll included) since the gate began."""

    sample: int


@dataclass(frozen=True, slots=True)
class Voiced:
    """The next samples of the utterance."""

    samples: Samples


@dataclass(frozen=True, slots=True)
class Ended:
    """The utterance is over; ``sample`` is the first one that no longer belongs to it."""

    sample: int


GateEvent = Started | Voiced | Ended


class Gate:
    """Takes frames of ``FRAME`` samples with their voice probability and gives the events of utterances."""

    def __init__(self, options: GateOptions | None = None) -> None:
        self.options = options or GateOptions()
        """What is decided by, from the next frame on; a change of ``pre_roll_ms`` or ``onset_ms`` is not foreseen."""
        self._before: deque[Samples] = deque(maxlen=_frames(self.options.pre_roll_ms + self.options.onset_ms))
        self._position = 0
        self._start = 0
        self._open = False
        self._voiced = 0
        self._quiet = 0
        self._expedited = False
        self._held = False
        self._tail: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether an utterance is open."""
        return self._open

    @property
    def position(self) -> int:
        """Samples taken so far."""
        return self._position

    @property
    def needs_voice(self) -> bool:
        """Whether the next frame's voice probability decides anything."""
        return not self._by_key and (self._open or self.options.by_voice)

    @property
    def _by_key(self) -> bool:
        return self._held or self._tail is not None

    def press(self) -> None:
        """From the next frame on all is one utterance, voice or not, until ``release``; an open one goes on."""
        self._held, self._tail = True, None

    def release(self) -> None:
        """End what ``press`` began, after the tail. Pressing again before goes on with the same utterance."""
        if self._held:
            self._held, self._tail = False, _samples(self.options.tail_ms)

    def expedite(self) -> None:
        """Wait less for the end of the open utterance; forgotten as soon as the voice goes on."""
        self._expedited = self._open

    def feed(self, frame: Samples, probability: float) -> list[GateEvent]:
        """Take the next frame; the events it causes, in order."""
        self._position += len(frame)
        if self._open:
            return self._continue(frame, probability)
        self._before.append(frame)
        if self._by_key:
            return self._begin(self.options.held_pre_roll_ms)
        if not self.options.by_voice:
            return []
        self._voiced = self._voiced + 1 if probability >= self.options.onset else 0
        if self._voiced < _frames(self.options.onset_ms):
            return []
        return self._begin(self.options.pre_roll_ms + self.options.onset_ms)

    def close(self) -> list[GateEvent]:
        """End the open utterance, if there is one: the microphone was closed or lost."""
        self._before.clear()
        self._voiced, self._held, self._tail = 0, False, None
        return self._end() if self._open else []

    def _begin(self, before_ms: int) -> list[GateEvent]:
        samples = np.concatenate(list(self._before)[-max(1, _frames(before_ms)) :])
        self._before.clear()
        self._open, self._voiced, self._quiet, self._expedited = True, 0, 0, False
        self._start = self._position - len(samples)
        return [Started(self._start), Voiced(samples)]

    def _continue(self, frame: Samples, probability: float) -> list[GateEvent]:
        if self._by_key:
            return self._continue_by_key(frame)
        if probability >= self.options.release:
            # Only frames after the command's own last word may end the shortened wait; a new voice cancels it.
            self._expedited = self._expedited and self._quiet == 0
            self._quiet = 0
        else:
            self._quiet += len(frame)
        events: list[GateEvent] = [Voiced(frame)]
        if self._quiet >= self._wait_samples():
            return events + self._end()
        if self._position - self._start >= _samples(self.options.max_ms):
            return [*events, Ended(self._position), *self._carry_on()]
        return events

    def _continue_by_key(self, frame: Samples) -> list[GateEvent]:
        events: list[GateEvent] = [Voiced(frame)]
        if self._tail is not None:
            self._tail -= len(frame)
            if self._tail <= 0:
                return events + self._end()
        if self._position - self._start >= _samples(self.options.max_ms):
            return [*events, Ended(self._position), *self._carry_on()]
        return events

    def _carry_on(self) -> list[GateEvent]:
        self._start, self._expedited = self._position, False
        return [Started(self._position)]

    def _wait_samples(self) -> int:
        options = self.options
        wait = options.wait_ms
        if self._expedited:
            wait = min(wait, options.expedited_wait_ms)
        if self._position - self._start >= _samples(options.long_ms):
            wait = min(wait, options.long_wait_ms)
        return _samples(wait)

    def _end(self) -> list[GateEvent]:
        self._open, self._expedited, self._quiet, self._tail = False, False, 0, None
        return [Ended(self._position)]


def _samples(milliseconds: int) -> int:
    return milliseconds * SAMPLE_RATE // 1000


def _frames(milliseconds: int) -> int:
    return -(-_samples(milliseconds) // FRAME)
