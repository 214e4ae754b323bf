"""Sound files of any rate and number of channels, as blocks of samples. Reading blocks for as long as a disk does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import webrtcvad
from numpy.typing import NDArray

from sayso.app.audio.errors import AudioError
from sayso.app.audio.resample import SAMPLE_RATE, Resampler

Samples = NDArray[np.float32]

_FRAME = SAMPLE_RATE * 30 // 1000
_LEAST_PIECE_S = 20
_LARGEST_PIECE_S = 40


@dataclass(frozen=True, slots=True)
class SoundFile:
    """A file that can be read; ``rate`` in samples a second."""

    path: Path
    rate: int
    channels: int
    seconds: float

    def blocks(self, block_s: float) -> Iterator[Samples]:
        """All samples as blocks of shape (frames, channels), the last one as long as what is left."""
        try:
            with soundfile.SoundFile(self.path) as file:
                yield from file.blocks(int(self.rate * block_s), dtype="float32", always_2d=True)
        except (soundfile.LibsndfileError, OSError) as error:
            raise _unreadable(self.path, error) from error


def open_sound_file(path: Path) -> SoundFile:
    """Look at a file; raises AudioError ``bad_sound_file``."""
    try:
        info = soundfile.info(path)
    except (soundfile.LibsndfileError, OSError) as error:
        raise _unreadable(path, error) from error
    return SoundFile(path, int(info.samplerate), int(info.channels), float(info.duration))


def pieces(file: SoundFile) -> Iterator[Samples]:
    """The whole file as pieces of mono 16 kHz audio, cut in a pause after 20 to 40 s; nothing is left out."""
    resampler = Resampler(file.rate, file.channels)
    held = np.zeros(0, np.float32)
    for block in file.blocks(1.0):
        held = np.concatenate((held, resampler.feed(block)))
        while len(held) >= _LARGEST_PIECE_S * SAMPLE_RATE:
            cut = _pause(held)
            yield held[:cut]
            held = held[cut:]
    held = np.concatenate((held, resampler.feed(np.zeros((0, file.channels), np.float32), last=True)))
    if len(held):
        yield held


def _pause(samples: Samples) -> int:
    """The middle of the longest stretch without a voice where a cut is allowed; its latest place if there is none."""
    detector = webrtcvad.Vad(3)
    pcm = (np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
    best, best_cut, quiet = 0, _LARGEST_PIECE_S * SAMPLE_RATE, 0
    for start in range(_LEAST_PIECE_S * SAMPLE_RATE, _LARGEST_PIECE_S * SAMPLE_RATE - _FRAME + 1, _FRAME):
        quiet = 0 if detector.is_speech(pcm[2 * start : 2 * (start + _FRAME)], SAMPLE_RATE) else quiet + 1
        if quiet > best:
            best, best_cut = quiet, start + _FRAME - quiet * _FRAME // 2
    return best_cut


def _unreadable(path: Path, error: Exception) -> AudioError:
    reason = error.strerror if isinstance(error, OSError) else str(error).rpartition(": ")[2].rstrip(".")
    return AudioError("bad_sound_file", f"{path} cannot be read as sound: {reason}.")
