"""From blocks of one device to utterances: resample, measure, gate. No I/O and no clock; runs on the event loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayso.app.audio.gate import Gate, GateEvent, GateOptions
from sayso.app.audio.level import Level, Meter
from sayso.app.audio.resample import SAMPLE_RATE, Resampler
from sayso.app.audio.voice import FRAME, SAMPLE_BYTES, VoiceDetector, pcm16

Samples = NDArray[np.float32]


class Pipeline:
    """One device's way from blocks to utterances."""

    def __init__(self, rate: int, channels: int, options: GateOptions | None = None) -> None:
        self._resampler = Resampler(rate, channels)
        self._meter = Meter(rate)
        self._voice = VoiceDetector()
        self._gate = Gate(options)
        self._rest: Samples = np.zeros(0, np.float32)

    @property
    def no_signal(self) -> bool:
        """Whether the device has given nothing but zeros for a second."""
        return self._meter.no_signal

    @property
    def hears_voice(self) -> bool:
        """Whether an utterance is open."""
        return self._gate.is_open

    def age_s(self, sample: int) -> float:
        """How many seconds of audio came since this sample of the gate."""
        return (self._gate.position - sample) / SAMPLE_RATE

    def expedite(self) -> None:
        """What was heard is complete already: wait less for the end of the utterance."""
        self._gate.expedite()

    def press(self) -> None:
        """From now on all is one utterance, until ``release``."""
        self._gate.press()

    def release(self) -> None:
        """End the utterance that ``press`` began, after a tail."""
        self._gate.release()

    def set_options(self, options: GateOptions) -> None:
        """Decide by these from the next frame on."""
        self._gate.options = options

    def feed(self, block: Samples) -> tuple[Level | None, list[GateEvent]]:
        """Take a block of shape (frames, channels) at the device's rate."""
        return self._meter.feed(block), self._frames(self._resampler.feed(block))

    def close(self) -> list[GateEvent]:
        """Nothing more will come: the rest of what was heard, and the end of an open utterance."""
        channels = np.zeros((0, 1), np.float32)
        events = self._frames(self._resampler.feed(channels, last=True))
        if len(self._rest):
            events += self._frames(np.zeros(FRAME - len(self._rest), np.float32))
        return events + self._gate.close()

    def _frames(self, samples: Samples) -> list[GateEvent]:
        samples = np.concatenate((self._rest, samples))
        whole = len(samples) - len(samples) % FRAME
        self._rest = samples[whole:]
        # Many small conversions would cost a quiet room more than all the rest.
        pcm = pcm16(samples[:whole])
        events: list[GateEvent] = []
        for start in range(0, whole, FRAME):
            frame = pcm[start * SAMPLE_BYTES : (start + FRAME) * SAMPLE_BYTES]
            probability = self._voice.probability(frame) if self._gate.needs_voice else 0.0
            events += self._gate.feed(samples[start : start + FRAME], probability)
        return events
