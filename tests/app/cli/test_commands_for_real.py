"""The commands as a user runs them, on the real chain: own server, engine, model, microphone."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from bounded import child, read_line
from speech import say_to_file
from virtual_sound import Microphone, VirtualSound

pytestmark = pytest.mark.engine

SAYSO = Path(sys.executable).with_name("sayso")
BECKETT = Path(__file__).parents[2] / "data" / "beckett.wav"
TEXT = "ever tried ever failed no matter try again fail again fail better"


def sayso(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SAYSO, *arguments], capture_output=True, text=True, timeout=110, check=False, **options)


def plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z']+", text.lower()))


def test_a_sound_file_is_heard_live_and_written_as_json(tmp_path: Path) -> None:
    samples, rate = soundfile.read(BECKETT, dtype="float32")
    file = tmp_path / "stereo.wav"
    soundfile.write(file, np.stack([np.zeros_like(samples), samples], axis=1), rate)
    run = sayso("listen", "--file", file, "--fast", "--json")
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    finals = [line for line in lines if line["type"] == "final"]
    assert plain(" ".join(line["text"] for line in finals)) == TEXT
    assert any(line["type"] == "partial" for line in lines)
    assert all(line["start"] < line["end"] <= len(samples) / rate + 0.1 for line in finals)
    starts = [line["start"] for line in finals]
    assert starts == sorted(starts)


def test_a_command_is_carried_out_when_that_is_asked_for(sound: VirtualSound) -> None:
    sound.volume = 1.0
    command = say_to_file("set the volume to fifty percent")
    told = sayso("listen", "--file", command, "--fast", "--json", env=sound.environment)
    assert "action" not in {json.loads(line)["type"] for line in told.stdout.splitlines()}
    assert sound.volume == pytest.approx(1.0)
    done = sayso("listen", "--act", "--file", command, "--fast", "--json", env=sound.environment)
    (action,) = [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "action"]
    assert action["state"] == "done"
    assert action["start"] < action["end"]
    assert sound.volume == pytest.approx(0.5, abs=0.02)


def test_files_are_transcribed_and_those_that_are_no_sound_are_named(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("no sound")
    run = sayso("transcribe", BECKETT, tmp_path / "text.wav", tmp_path / "missing.wav")
    assert run.returncode == 1
    assert plain(run.stdout.removeprefix(f"{BECKETT}: ")) == TEXT
    assert len(run.stdout.splitlines()) == 1
    assert "text.wav" in run.stderr
    assert "missing.wav" in run.stderr


def test_a_server_that_is_not_there_is_an_error_with_exit_status(tmp_path: Path) -> None:
    run = sayso("listen", "--file", BECKETT, "--fast", "--server", "http://")
    assert run.returncode == 1
    assert "no server address" in run.stderr


def test_what_was_said_before_ctrl_c_is_written_and_nothing_is_left_behind(
    sound: VirtualSound, microphone: Microphone, tmp_path: Path
) -> None:
    log = tmp_path / "sayso.log"
    with child([SAYSO, "listen", "--json"], sound.environment, log, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        sound.wait_for_listener(60)
        with microphone.room_noise(), microphone.speaking(BECKETT):
            first = json.loads(read_line(process.stdout.fileno(), "the first words", 60))
            assert first["type"] == "partial"
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, log.read_text()
    finals = [line for line in map(json.loads, output.decode().splitlines()) if line["type"] == "final"]
    assert plain(finals[0]["text"]).startswith("ever tr")


def test_the_microphones_are_listed(sound: VirtualSound) -> None:
    assert sayso("devices", env=sound.environment).returncode == 1
    plugged = sound.plug_microphone(name="headset", rate=44100, channels=2)
    try:
        run = sayso("devices", "--json", env=sound.environment)
    finally:
        sound.unplug(plugged)
    (line,) = map(json.loads, run.stdout.splitlines())
    assert line == {
        "name": "headset",
        "label": "headset",
        "rate": 44100,
        "channels": 2,
        "default": True,
        "muted": False,
    }


def test_the_doctor_says_what_is_missing_and_what_works(sound: VirtualSound, microphone: Microphone) -> None:
    sessions = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE")
    environment = {name: value for name, value in sound.environment.items() if name not in sessions}
    with microphone.room_noise():
        run = sayso("doctor", env=environment)
    assert run.returncode == 1
    marks = {subject: mark for mark, subject in re.findall(r"^ *(\w+)  ([\w ]+):", run.stdout, re.MULTILINE)}
    assert marks == {
        "Desktop packages": "ok",
        "Microphone": "ok",
        "Display": "FAULT",
        "Engine packages": "ok",
        "Model files": "ok",
        "Own server and engine": "ok",
    }
    assert "1 thing to mend" in run.stdout
