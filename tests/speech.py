"""Speech for tests: two human recordings, and any text spoken by several synthetic voices. Runs in the calling thread.

All samples are mono float32 at 16 kHz in [-1, 1]. What is spoken is kept in `.cache/speech` of the checkout, named by
the hash of text and voice, so that each sentence is made once; the same text and voice always give the same samples.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 16000
"""Samples a second of everything here."""

FULL_SCALE = 32_768

DATA = Path(__file__).parent / "data"
_CACHE = Path(__file__).parents[1] / ".cache" / "speech"
_MADE_BY = "1"  # Raise it when the way speech is made changes, so that what is in the cache is made anew.
_PEAK = 0.5
_EDGE_SECONDS = 0.08  # Quiet kept before and after the speech.


def pcm16(samples: Samples) -> bytes:
    """16-bit little-endian PCM, as the pipe to the engine and the wire carry it."""
    return np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype("<i2").tobytes()


@dataclass(frozen=True)
class Voice:
    """How a text is spoken."""

    engine: str
    """`hibari` or `espeak-ng`."""
    variant: str
    """The engine's own name of the voice."""
    speed: float = 1.0
    """1.0 is the engine's usual pace."""
    size: float = 1.0
    """Above 1.0 everything sounds deeper, as from a larger throat, and takes so much longer."""

    @property
    def name(self) -> tuple[object, ...]:
        """What the samples depend on beside the text."""
        return (self.engine, self.variant, self.speed, *((self.size,) if self.size != 1.0 else ()))


VOICES = {
    "hibari": Voice("hibari", "heart"),
    "hibari-fast": Voice("hibari", "heart", 1.25),
    "hibari-slow": Voice("hibari", "heart", 0.85),
    "american": Voice("espeak-ng", "en-us"),
    "british": Voice("espeak-ng", "en-gb"),
    "scottish": Voice("espeak-ng", "en-gb-scotland"),
    "woman": Voice("espeak-ng", "en-us+f3"),
    "american-fast": Voice("espeak-ng", "en-us", 1.3),
    # Nothing may be chosen by what is misheard of these two: they tell how unknown voices are heard.
    "caribbean": Voice("espeak-ng", "en-029"),
    "deep": Voice("hibari", "heart", 1.14, 1.14),
}

COMMAND_TEXTS = (
    "open firefox",
    "open the terminal",
    "open the file manager",
    "close window",
    "close this window",
    "switch to terminal",
    "switch to firefox",
    "next window",
    "press control s",
    "press enter",
    "press escape",
    "press alt tab",
    "press control shift t",
    "press page down",
    "volume up",
    "volume down",
    "turn the volume up",
    "set the volume to fifty percent",
    "set volume to twenty",
    "mute the sound",
    "unmute",
    "scratch that",
    "type hello world",
    "type good morning everyone",
    "type see you tomorrow",
    "search the web for the weather in paris",
    "search for chocolate cake",
    "go to example dot com",
    "stop listening",
    "start listening",
)

COMMAND_VOICES = ("hibari", "american")


@dataclass(frozen=True)
class Spoken:
    """A text and how it sounds."""

    text: str
    voice: str

    @property
    def samples(self) -> Samples:
        return say(self.text, self.voice)


COMMANDS = tuple(Spoken(text, voice) for voice in COMMAND_VOICES for text in COMMAND_TEXTS)
"""60 commands to a voice assistant, 0.6 to 3 s long."""


def say(text: str, voice: str = "hibari") -> Samples:
    """The text spoken by one of `VOICES`, with 80 ms of quiet before and after."""
    samples, rate = soundfile.read(say_to_file(text, voice), dtype="float32")
    assert rate == RATE
    return samples


def say_to_file(text: str, voice: str = "hibari") -> Path:
    """The same as a WAV file (16 kHz, mono, PCM16) that must not be changed."""
    how = VOICES[voice]
    name = hashlib.sha256(json.dumps([_MADE_BY, *how.name, text]).encode()).hexdigest()[:24]
    path = _CACHE / f"{name}.wav"
    if not path.exists():
        samples, rate = _ENGINES[how.engine](text, how)
        write_wav(path, _finished(samples, rate / how.size))
    return path


def write_wav(path: Path, samples: Samples) -> Path:
    """Write 16 kHz samples as PCM16; whoever reads the path meanwhile sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        soundfile.write(part, samples, RATE, format="WAV", subtype="PCM_16")
    Path(part.name).replace(path)
    return path


@functools.cache
def recording(name: str) -> Samples:
    """One of the human recordings: `beckett` or `two_cities`. Read-only."""
    samples, rate = soundfile.read(DATA / f"{name}.wav", dtype="float32")
    assert rate == RATE
    samples.flags.writeable = False
    return samples


@functools.cache
def word_times(name: str) -> tuple[tuple[str, float, float], ...]:
    """Word, start and end in seconds, of a human recording; good to about 0.2 s."""
    return tuple((word, start, end) for word, start, end in json.loads((DATA / "words.json").read_text())[name])


def recording_text(name: str) -> str:
    """What is said in a human recording."""
    return " ".join(word for word, _, _ in word_times(name))


def _hibari(text: str, voice: Voice) -> tuple[Samples, int]:
    engine = _loaded_hibari(voice.variant)
    return engine(text, speed=voice.speed, seed=0), engine.sample_rate


@functools.cache
def _loaded_hibari(variant: str) -> Any:
    from hibari import Hibari  # Takes half a second, and only a cache that lacks something needs it.

    return Hibari(voice=variant)


def _espeak(text: str, voice: Voice) -> tuple[Samples, int]:
    command = ["espeak-ng", "-v", voice.variant, "-s", str(round(160 * voice.speed)), "--stdout", text]
    result = subprocess.run(command, capture_output=True, timeout=30, check=True)
    return soundfile.read(io.BytesIO(result.stdout), dtype="float32")


_ENGINES: dict[str, Callable[[str, Voice], tuple[Samples, int]]] = {"hibari": _hibari, "espeak-ng": _espeak}


def _finished(samples: Samples, rate: float) -> Samples:
    """At 16 kHz, of one loudness, and without long quiet at its ends."""
    resampled = soxr.resample(samples, rate, RATE).astype(np.float32)
    resampled *= _PEAK / float(np.abs(resampled).max())
    loud = np.flatnonzero(np.abs(resampled) > 0.01 * _PEAK)
    edge = np.zeros(int(_EDGE_SECONDS * RATE), np.float32)
    return np.concatenate([edge, resampled[loud[0] : loud[-1] + 1], edge])
