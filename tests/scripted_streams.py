"""A stream without a model: it says for each utterance which samples it heard. For tests of sessions and the loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sayso.engine.messages import SessionOptions
from sayso.engine.runner.base import Before, Holding, Offer, Piece, SpokenWord, Utterance

FRAME = 512
LOUD = 0.5


class RangeStream:
    """Needs one run after the utterance ended; its only word is ``start-end`` in frames of the turn."""

    def __init__(self, utterance: Utterance) -> None:
        self.utterance = utterance
        self._pieces: list[Piece] = []
        self._ran = False

    @property
    def done(self) -> bool:
        return self._ran and not self._pieces

    @property
    def needed_from(self) -> int:
        return self.utterance.start

    @property
    def behind(self) -> int:
        return 0 if self._ran else self.utterance.end - self.utterance.start

    @property
    def holding(self) -> Holding:
        return Holding(kv=1, features=2)

    @property
    def due(self) -> bool:
        return self.utterance.ended and not self._ran

    def offer(self, now: float) -> Offer | None:
        return Offer(10.0, now) if self.due else None

    def run(self) -> None:
        start, end = self.utterance.start, self.utterance.end
        assert len(self.utterance.tape.read(start, end)) == end - start
        word = SpokenWord(f" {start // FRAME}-{-(-end // FRAME)}", start, end, 1.0, (1, 2))
        self._pieces = [Piece((word,), stable=False), Piece((word,), stable=True)]
        self._ran = True

    def take(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def close(self) -> None: ...


class RangeRunner:
    """A runner of such streams; ``fails_on`` is audio (its loudest sample) at which it raises."""

    name = "ranges"
    gated = True
    languages = ("en",)
    positions_a_second = 50.0
    weight_bytes = 4
    mapped_bytes = 0

    def __init__(self, fails_on: float = 9.0) -> None:
        self.fails_on = fails_on
        self.batches: list[int] = []

    def warm(self) -> None: ...

    def stream(self, utterance: Utterance, options: SessionOptions, before: Before) -> RangeStream:
        return RangeStream(utterance)

    def run(self, streams: Sequence[RangeStream]) -> None:
        for stream in streams:
            if np.abs(stream.utterance.tape.read(stream.utterance.start, stream.utterance.end)).max() >= self.fails_on:
                raise RuntimeError("these samples cannot be heard")
        self.batches.append(len(streams))
        for stream in streams:
            stream.run()


class LoudnessDetector:
    """Speech is what is loud: the mean of a frame, doubled, is its probability."""

    def run(self, streams: Sequence[np.ndarray], states: Sequence[object]) -> tuple[list[np.ndarray], list[object]]:
        return [np.minimum(1.0, 2 * np.abs(frames).mean(1)) for frames in streams], list(states)


def loud(frames: int) -> np.ndarray:
    """Samples that count as speech."""
    return np.full(frames * FRAME, LOUD, np.float32)


def quiet(frames: int) -> np.ndarray:
    """Samples that do not."""
    return np.zeros(frames * FRAME, np.float32)
