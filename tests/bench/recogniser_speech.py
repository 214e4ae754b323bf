"""Spoken commands for the recogniser bench, and how words are compared.

Half of the commands are spoken by hibari's packaged voice and half by espeak-ng's; the same call always gives the same
samples. Each command has a little silence and a faint noise floor around it, as a microphone has.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import soundfile as sf
import soxr

SAMPLE_RATE = 16_000
LEAD_S = 0.3
TAIL_S = 0.2
NOISE_RMS = 3e-4

COMMANDS = (
    "open firefox",
    "open the terminal",
    "close the window",
    "switch window",
    "next window",
    "volume up",
    "volume down",
    "mute",
    "set the volume to fifty percent",
    "turn the volume down",
    "search for rain tomorrow",
    "search the web for jazz piano",
    "go to wikipedia dot org",
    "type hello world",
    "type good morning everyone",
    "press enter",
    "press escape",
    "press control c",
    "press control shift t",
    "press page down",
    "scratch that",
    "undo that",
    "stop listening",
    "start listening",
    "open the file manager",
    "close this tab",
    "new line",
    "select all",
    "save the document",
    "lock the screen",
)
_RETAKE_SPEEDS = (0.9, 1.15)
_RETAKE_VOICES = ("en-us+f2", "en-gb")
_RETAKE_NOISE_RMS = 6e-3
_ESPEAK_VOICES = ("en-us", "en-gb", "en-us+f3", "en-gb+m3", "en-us+m7")
_NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}


@dataclass(frozen=True)
class Spoken:
    """One command, its voice and its samples (float32, 16 kHz)."""

    text: str
    voice: str
    audio: np.ndarray


def commands() -> list[Spoken]:
    """All commands, once by hibari and once by espeak-ng."""
    from hibari import Hibari

    if shutil.which("espeak-ng") is None:
        raise SystemExit("The bench needs espeak-ng: apt-get install espeak-ng")
    hibari = Hibari()
    random = np.random.default_rng(1)
    spoken = []
    for index, text in enumerate(COMMANDS):
        voice = soxr.resample(np.asarray(hibari(f"{text}.", seed=index), np.float32), 24_000, SAMPLE_RATE)
        spoken.append(Spoken(text, "hibari", _as_recorded(voice, random)))
    for index, text in enumerate(COMMANDS):
        name = _ESPEAK_VOICES[index % len(_ESPEAK_VOICES)]
        spoken.append(Spoken(text, name, _as_recorded(_espeak(text, name), random)))
    return spoken


def retakes() -> list[Spoken]:
    """Every command four times more: slower and faster by hibari in a noisy room, and by two more espeak-ng voices.

    A few of the 60 commands are at the edge of what the model understands, whichever way it is run; more clips tell a
    difference from luck.
    """
    from hibari import Hibari

    hibari = Hibari()
    random = np.random.default_rng(7)
    spoken = []
    for index, text in enumerate(COMMANDS):
        for speed in _RETAKE_SPEEDS:
            said = np.asarray(hibari(text, seed=100 + index, speed=speed), np.float32)
            audio = _as_recorded(soxr.resample(said, 24_000, SAMPLE_RATE), random)
            noise = random.normal(0, _RETAKE_NOISE_RMS, len(audio))
            spoken.append(Spoken(text, f"hibari {speed}", (audio + noise).astype(np.float32)))
    for text in COMMANDS:
        for name in _RETAKE_VOICES:
            spoken.append(Spoken(text, name, _as_recorded(_espeak(text, name), random)))
    return spoken


def _espeak(text: str, voice: str) -> np.ndarray:
    said = subprocess.run(["espeak-ng", "-v", voice, "-s", "150", "--stdout", text], capture_output=True, check=True)
    audio, rate = sf.read(io.BytesIO(said.stdout), dtype="float32")
    return soxr.resample(audio, rate, SAMPLE_RATE)


def _as_recorded(voice: np.ndarray, random: np.random.Generator) -> np.ndarray:
    loud = np.flatnonzero(np.abs(voice) > 0.01 * np.abs(voice).max())
    voice = voice[loud[0] : loud[-1] + 1] * (0.3 / np.abs(voice).max())
    lead, tail = int(LEAD_S * SAMPLE_RATE), int(TAIL_S * SAMPLE_RATE)
    audio = np.concatenate([np.zeros(lead), voice, np.zeros(tail)])
    return (audio + random.normal(0.0, NOISE_RMS, len(audio))).astype(np.float32)


def words(text: str) -> list[str]:
    """Words to compare: lower case, no marks, numbers up to 99 spelled out."""
    plain = re.sub(
        r"[^a-z0-9' ]+",
        " ",
        text.lower().replace("%", " percent ").replace("ctrl", "control").replace(".org", " dot org"),
    )
    return " ".join(_spelled(word.strip("'")) for word in plain.split()).split()


def _spelled(word: str) -> str:
    if not word.isdigit() or int(word) > 99:
        return word
    number = int(word)
    if number < len(_NUMBERS):
        return _NUMBERS[number]
    if number < 20:
        return {17: "seventeen", 18: "eighteen", 19: "nineteen"}[number]
    return f"{_TENS[number // 10 * 10]} {_NUMBERS[number % 10] if number % 10 else ''}"


def distance(heard: Sequence[str], said: Sequence[str]) -> list[int]:
    """Edit distance of ``heard`` to every beginning of ``said``: entry k belongs to its first k words."""
    row = list(range(len(said) + 1))
    for index, word in enumerate(heard, start=1):
        before, row[0] = row[0], index
        for k, other in enumerate(said, start=1):
            before, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, before + (word != other))
    return row


def errors(heard: str, said: str) -> int:
    """Wrong, missing and added words."""
    return distance(words(heard), words(said))[-1]


def errors_of_part(heard: str, said: str) -> int:
    """The same for audio that was cut off: against whatever beginning of the text fits best."""
    return min(distance(words(heard), words(said)))


def repeats(text: str) -> bool:
    """Whether a phrase of one word three times, or of more words twice, follows upon itself."""
    heard = words(text)
    for size in range(1, len(heard) // 2 + 1):
        times = 2 if size > 1 else 3
        for start in range(len(heard) - size * times + 1):
            phrase = heard[start : start + size]
            if heard[start : start + size * times] == phrase * times:
                return True
    return False
