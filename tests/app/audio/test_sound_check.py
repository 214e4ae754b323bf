"""Recording and playing back on real devices of a private sound server; how a recording was, in words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from bounded import child
from virtual_sound import SPEAKER, VirtualSound

from sayso.app.audio.sound_check import Recording, verdict

PROGRAM = Path(__file__).parent / "checking_program.py"
RATE, TONE_HZ = 48_000, 440.0


def recording(loudest_db: float = -12.0, *, clipped: bool = False, no_signal: bool = False) -> Recording:
    return Recording("Headset", np.zeros(0, np.float32), RATE, loudest_db, clipped, no_signal)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (recording(), "The level is good (-12 dBFS at most)."),
        (recording(-60.0), "very quiet"),
        (recording(-1.0, clipped=True), "too loud"),
        (recording(-96.0, no_signal=True), "“Headset” gave nothing but silence"),
    ],
)
def test_how_it_was_is_said_with_what_to_do(made: Recording, said: str) -> None:
    assert said in verdict(made)


def tone(folder: Path, peak: float, seconds: float = 30.0) -> Path:
    samples = peak * np.sin(2 * np.pi * TONE_HZ * np.arange(int(seconds * RATE)) / RATE)
    soundfile.write(folder / "tone.wav", np.clip(samples, -1.0, 1.0), RATE, subtype="PCM_16")
    return folder / "tone.wav"


def check(sound: VirtualSound, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """The steps that the program tells, from its start to its end."""
    command = [sys.executable, PROGRAM, *arguments]
    done = subprocess.run(command, env=dict(sound.environment), capture_output=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def loudness_at(samples: np.ndarray[Any, np.dtype[np.float32]], hz: float) -> float:
    """The share of this frequency in the whole sound, 0 to 1."""
    spectrum = np.abs(np.fft.rfft(samples)) ** 2
    near = np.abs(np.fft.rfftfreq(len(samples), 1 / RATE) - hz) < 5
    return float(spectrum[near].sum() / max(spectrum.sum(), 1e-12))


@pytest.mark.desktop
def test_what_the_microphone_hears_comes_out_of_the_loudspeaker_while_listening_goes_on(
    sound: VirtualSound, tmp_path: Path
) -> None:
    microphone = sound.plug_microphone(rate=44100, channels=2)
    heard = tmp_path / "heard.raw"
    command = ["parec", f"--device={SPEAKER}.monitor", "--format=float32le", f"--rate={RATE}", "--channels=1"]
    try:
        with (
            heard.open("wb") as file,
            child(command, sound.environment, tmp_path / "parec.log", stdout=file.fileno()),
            microphone.speaking(tone(tmp_path, 0.3)),
        ):
            steps = check(sound, tmp_path, "--listening")
    finally:
        sound.unplug(microphone)
    opened, recorded, played, still_heard = steps
    assert [step["step"] for step in steps] == ["opened", "recorded", "played", "still heard"]
    assert opened["step"] == "opened"
    assert recorded["seconds"] == 1.0
    # Twenty, but on a busy machine several blocks come at once.
    assert recorded["levels"] >= 8
    assert -18.0 < recorded["loudest_db"] < -10.0
    assert not recorded["clipped"]
    assert played["step"] == "played"
    assert not still_heard["lost"]
    output = np.fromfile(heard, np.float32)
    loud = output[np.abs(output) > 0.01]
    assert 0.8 * RATE < len(loud) < 1.3 * RATE
    assert loudness_at(output, TONE_HZ) > 0.9


@pytest.mark.desktop
def test_clipping_silence_and_a_missing_microphone_are_told(sound: VirtualSound, tmp_path: Path) -> None:
    assert [(step["step"], step.get("code")) for step in check(sound, tmp_path)] == [("failed", "microphone_missing")]
    microphone = sound.plug_microphone()
    try:
        silent = check(sound, tmp_path)[1]
        with microphone.speaking(tone(tmp_path, 1.5)):
            loud = check(sound, tmp_path)[1]
    finally:
        sound.unplug(microphone)
    assert silent["no_signal"]
    assert "nothing but silence" in silent["verdict"]
    assert loud["clipped"]
    assert "too loud" in loud["verdict"]
