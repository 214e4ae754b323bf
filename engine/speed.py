"""How fast a speech model is on this machine: a spoken sentence transcribed as if it were said just now. Loop thread.

What is timed is what a live speaker costs, every tentative decode included, without the waiting for speech in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
import psutil
import soundfile

from sayso.engine.loading import load
from sayso.engine.messages import SAMPLE_RATE, Load, SessionOptions
from sayso.engine.runner.base import Before, Runner, Utterance
from sayso.engine.tape import Tape

_CHUNK = SAMPLE_RATE * 80 // 1000
_FRAME = 512
_VOICE = 0.95
"""Speech probability that the sample is given; it holds nothing else."""
_RUNS = 3
_REPEAT_BELOW = 1.5
"""A model that was slower than this in its first run is too slow whatever the others would give."""


@dataclass(frozen=True)
class Speed:
    """``factor`` is seconds of computing for each second of speech, below 1 where the model keeps up."""

    model: str
    device: str
    threads: int
    factor: float
    load_ms: int
    resident_bytes: int


def measure(model: str, device: str = "auto", threads: int = 0) -> Speed:
    """Load a model in this process and time it; raises what ``loading.load`` raises."""
    loaded = load(Load(model, device, threads))
    samples = sample()
    # On a busy machine the wall clock counts what other programs do; the processor's time leaves that out.
    clocks = (time.perf_counter, time.process_time) if loaded.device == "cpu" else (time.perf_counter,)
    factor = transcribe(loaded.runner, samples, clocks)
    for _ in range(_RUNS - 1):
        # The first run makes what is made once for each length of window.
        if factor < _REPEAT_BELOW:
            factor = min(factor, transcribe(loaded.runner, samples, clocks))
    resident = int(psutil.Process().memory_info().rss)
    return Speed(loaded.runner.name, loaded.device, loaded.threads, factor, loaded.load_ms, resident)


def sample() -> np.ndarray:
    """The spoken sentence: float32 mono at ``SAMPLE_RATE``."""
    with as_file(files("sayso.assets") / "speech" / "sample.wav") as path:
        samples, rate = soundfile.read(path, dtype="float32")
    assert rate == SAMPLE_RATE
    return np.asarray(samples)


def transcribe(
    runner: Runner, samples: np.ndarray, clocks: Sequence[Callable[[], float]] = (time.perf_counter,)
) -> float:
    """Give the samples to a stream as a microphone would; seconds of computing for each second of speech.

    ``clocks`` give seconds; the one by which it took the least counts.
    """
    utterance = Utterance(Tape(), 0, 0, 0)
    stream = runner.stream(utterance, SessionOptions(language="en" if "en" in runner.languages else ""), Before())
    spent_s = [0.0] * len(clocks)
    try:
        for start in range(0, len(samples) + _CHUNK, _CHUNK):
            _hear(utterance, samples[start : start + _CHUNK])
            utterance.ended = start >= len(samples)
            began_s = [clock() for clock in clocks]
            while stream.offer(0.0) is not None:
                runner.run([stream])
                stream.take()
            ended_s = [clock() for clock in clocks]
            spent_s = [sum(each) - began for *each, began in zip(spent_s, ended_s, began_s, strict=True)]
    finally:
        stream.close()
    return min(spent_s) * SAMPLE_RATE / len(samples)


def _hear(utterance: Utterance, chunk: np.ndarray) -> None:
    utterance.tape.append(chunk)
    utterance.end = utterance.voice_end = utterance.tape.end
    utterance.voiced_frames = utterance.end // _FRAME
    utterance.voice_sum = _VOICE * utterance.voiced_frames
