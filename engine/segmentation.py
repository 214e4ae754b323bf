"""Where utterances begin, pause and end, from one speech probability per frame. Pure: no audio, no clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from sayso.engine.options import SAMPLES_PER_MS, Segmentation

FRAME_SAMPLES = 512
FRAME_MS = FRAME_SAMPLES // SAMPLES_PER_MS


class Edge(Enum):
    """What happened to the speech."""

    BEGIN = "begin"
    PAUSE = "pause"
    RESUME = "resume"
    END = "end"


@dataclass(frozen=True)
class Change:
    """One edge and the sample of the turn where the sound itself did that (earlier than when it was noticed)."""

    edge: Edge
    at: int
    voiced: tuple[float, ...] = field(default=(), compare=False)
    """With ``BEGIN``: the probabilities of the speech frames before the one at which it was noticed."""


class Segmenter:
    """Turns probabilities into edges. A turn has its own segmenter, which counts frames from the turn's start."""

    def __init__(self, options: Segmentation) -> None:
        self._options = options
        self._frame = 0
        self._recent: deque[float] = deque(maxlen=options.start_window)
        self._speaking = False
        self._paused = False
        self._voice_end = 0
        self._silent = True

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open, its pauses included."""
        return self._speaking

    @property
    def paused(self) -> bool:
        """Whether the open utterance is in a pause."""
        return self._paused

    def push(self, probability: float) -> list[Change]:
        """The edges that the next frame brings."""
        start = self._frame * FRAME_SAMPLES
        self._frame += 1
        if self._speaking:
            return self._continue(probability, start)
        self._recent.append(probability)
        speech = self._speech_frames()
        if len(speech) < self._options.start_frames or speech[-1] != len(self._recent) - 1:
            return []
        return [self._begin(speech, speech[:-1])]

    def finish(self) -> list[Change]:
        """The turn is over: what was heard so far counts, even if it was too short to begin on its own."""
        changes: list[Change] = []
        speech = self._speech_frames()
        if not self._speaking and speech:
            changes.append(self._begin(speech, speech))
        if self._speaking:
            changes.append(self._end())
        return changes

    def _continue(self, probability: float, start: int) -> list[Change]:
        options = self._options
        if probability >= (options.start_probability if self._silent else options.stay_probability):
            self._silent = False
            self._voice_end = start + FRAME_SAMPLES
            if self._paused:
                self._paused = False
                return [Change(Edge.RESUME, start)]
            return []
        self._silent = True
        silence_ms = (start + FRAME_SAMPLES - self._voice_end) // SAMPLES_PER_MS
        if silence_ms >= options.endpoint_ms:
            return [self._end()]
        if silence_ms >= options.pause_ms and not self._paused:
            self._paused = True
            return [Change(Edge.PAUSE, self._voice_end)]
        return []

    def _speech_frames(self) -> list[int]:
        """Which of the recent frames are speech."""
        return [i for i, probability in enumerate(self._recent) if probability >= self._options.start_probability]

    def _begin(self, speech: list[int], voiced: list[int]) -> Change:
        """``speech`` are recent frames; the voice ends with the last of them for now."""
        oldest = self._frame - len(self._recent)
        self._speaking, self._paused, self._silent = True, False, False
        self._voice_end = (oldest + speech[-1] + 1) * FRAME_SAMPLES
        change = Change(Edge.BEGIN, (oldest + speech[0]) * FRAME_SAMPLES, tuple(self._recent[i] for i in voiced))
        self._recent.clear()
        return change

    def _end(self) -> Change:
        self._speaking = self._paused = False
        return Change(Edge.END, self._voice_end)
