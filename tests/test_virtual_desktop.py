"""The virtual desktop itself: what is spoken is recorded, what is typed arrives, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import psutil
import pytest
import soundfile
from bounded import child, wait_for
from virtual_desktop import VirtualDesktop, VirtualSound, virtual_desktop

pytestmark = pytest.mark.desktop

RECORDER = """
import json, sys, sounddevice, numpy
seconds, rate, channels = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
taken = sounddevice.rec(int(seconds * rate), samplerate=rate, channels=channels, dtype="float32", blocking=True)
loudest = max(numpy.sqrt((taken[at:at + rate // 4] ** 2).mean()) for at in range(0, len(taken) - rate // 4, rate // 8))
spectrum = numpy.abs(numpy.fft.rfft(taken[:, 0]))
hertz = float(numpy.argmax(spectrum) * rate / len(taken))
print(json.dumps({"loudest_rms": float(loudest), "hertz": hertz, "channels": taken.shape[1]}))
"""


def tone(folder: Path, seconds: float = 4.0, hertz: float = 440.0, amplitude: float = 0.5) -> Path:
    at = np.arange(int(seconds * 16000)) / 16000
    path = folder / "tone.wav"
    soundfile.write(path, amplitude * np.sin(2 * np.pi * hertz * at), 16000)
    return path


def record(environment: Mapping[str, str], folder: Path, rate: int = 48000, channels: int = 1) -> dict[str, float]:
    command = [sys.executable, "-c", RECORDER, "1.5", str(rate), str(channels)]
    with child(command, environment, folder / "recorder.log", stdout=subprocess.PIPE) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, (folder / "recorder.log").read_text()
    return json.loads(output)


@pytest.mark.parametrize(("rate", "channels"), [(48000, 1), (44100, 2), (16000, 8)])
def test_what_is_spoken_is_recorded_through_portaudio(
    sound: VirtualSound, tmp_path: Path, rate: int, channels: int
) -> None:
    microphone = sound.plug_microphone(rate=rate, channels=channels)
    try:
        with microphone.speaking(tone(tmp_path, seconds=30)):
            heard = record(sound.environment, tmp_path, rate, channels)
    finally:
        sound.unplug(microphone)
    assert heard["loudest_rms"] == pytest.approx(0.5 / 2**0.5, rel=0.1)
    assert heard["hertz"] == pytest.approx(440, abs=3)
    assert heard["channels"] == channels


def test_a_microphone_nobody_speaks_into_gives_digital_zero(sound: VirtualSound, tmp_path: Path) -> None:
    microphone = sound.plug_microphone()
    try:
        assert record(sound.environment, tmp_path)["loudest_rms"] == 0.0
    finally:
        sound.unplug(microphone)


def test_room_noise_has_the_level_that_was_asked_for(sound: VirtualSound, tmp_path: Path) -> None:
    microphone = sound.plug_microphone()
    try:
        with microphone.room_noise(level_db=-40):
            level = record(sound.environment, tmp_path)["loudest_rms"]
    finally:
        sound.unplug(microphone)
    assert 20 * np.log10(level) == pytest.approx(-40, abs=2.5)


def test_the_program_that_records_is_seen_to_listen(sound: VirtualSound, tmp_path: Path) -> None:
    microphone = sound.plug_microphone()
    try:
        assert sound.listeners == []
        command = [sys.executable, "-c", RECORDER, "30", "48000", "1"]
        with child(command, sound.environment, tmp_path / "log"):
            sound.wait_for_listener()
        wait_for(lambda: not sound.listeners, "the recorder to be gone")
    finally:
        sound.unplug(microphone)


def test_the_speakers_volume_is_read_as_it_was_set(sound: VirtualSound) -> None:
    sound.volume = 0.4
    assert sound.volume == pytest.approx(0.4, abs=0.01)
    environment = sound.environment
    subprocess.run(["pactl", "set-sink-volume", "@DEFAULT_SINK@", "70%"], env=environment, check=True, timeout=10)
    assert sound.volume == pytest.approx(0.7, abs=0.01)
    assert not sound.muted


def test_xterm_receives_what_xdotool_types(desktop: VirtualDesktop) -> None:
    with desktop.terminal() as terminal:
        desktop.xdotool("type", "--delay", 5, "Hello, world-42")
        assert terminal.wait_for_text("Hello, world-42") == "Hello, world-42"


def test_a_window_that_is_closed_is_seen_to_close(desktop: VirtualDesktop) -> None:
    with desktop.terminal("to be closed") as terminal:
        assert desktop.active_window() == terminal.window
        desktop.xdotool("key", "alt+F4")
        desktop.wait_until_closed(terminal.window)


def test_a_screenshot_shows_the_window(desktop: VirtualDesktop) -> None:
    assert desktop.screenshot().size == (1280, 800)
    with desktop.terminal() as terminal:
        brightness = lambda: np.asarray(desktop.screenshot(terminal.window).convert("L")).mean()  # noqa: E731
        wait_for(lambda: brightness() > 200, "xterm's white ground on the screen")


@pytest.fixture
def processes_before() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


def test_nothing_is_left_when_the_desktop_ends(processes_before: set[int]) -> None:
    with virtual_desktop() as started, started.terminal():
        assert started.sound is not None
        with started.sound.plug_microphone().room_noise():
            during = [each for each in psutil.Process().children(recursive=True) if each.pid not in processes_before]
            assert {"Xvfb", "openbox", "pulseaudio", "xterm", "dbus-daemon", "pacat"} <= {p.name() for p in during}
    assert [each for each in during if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
    assert not started.folder.exists()
    assert not started.sound.folder.exists()


def test_two_desktops_run_side_by_side(desktop: VirtualDesktop) -> None:
    with virtual_desktop() as other, other.terminal("only there"):
        assert other.display != desktop.display
        assert "only there" not in [window.title for window in desktop.windows()]
