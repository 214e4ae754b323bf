"""The listener on real devices of a private sound server: rates, channels, silence, microphones that come and go."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile
from listening import listening
from speech import say_to_file
from virtual_sound import Microphone, VirtualSound

from sayso.app.audio import listener
from sayso.app.audio.capture import Stream
from sayso.app.audio.devices import Device, portaudio
from sayso.app.audio.listener import MicrophoneChanged
from sayso.app.audio.pipeline import Pipeline, Samples
from sayso.app.snapshot import MicrophoneState

pytestmark = pytest.mark.desktop

PROGRAM = Path(__file__).parent / "listening_program.py"
BECKETT = Path(__file__).parents[2] / "data" / "beckett.wav"


def clip(folder: Path) -> Path:
    """The first two sentences."""
    samples, rate = soundfile.read(BECKETT, dtype="int16")
    soundfile.write(folder / "clip.wav", samples[: int(3.2 * rate)], rate)
    return folder / "clip.wav"


@pytest.mark.parametrize(("rate", "channels"), [(44100, 2), (48000, 1), (48000, 8)])
def test_speech_is_heard_whole_at_the_devices_own_rate_and_channels(
    sound: VirtualSound, tmp_path: Path, rate: int, channels: int
) -> None:
    microphone = sound.plug_microphone(rate=rate, channels=channels)
    try:
        with listening(sound, tmp_path) as heard:
            heard.until_state("ready")
            with microphone.speaking(clip(tmp_path)):
                for _ in range(2):
                    heard.until(lambda line: line["event"] == "ended", "the end of an utterance")
    finally:
        sound.unplug(microphone)
    assert heard.states[:3] == ["opening", "opening", "ready"]
    assert len(heard.events("started")) == 2
    seconds = sum(line["count"] for line in heard.events("audio")) / 16000
    assert 2.5 < seconds < 4.0
    assert max(line["rms"] for line in heard.events("audio")) > 0.05
    times = [line["at"] for line in heard.lines if line["event"] in ("started", "ended")]
    assert times == sorted(times)


def test_only_zeros_are_told_as_no_signal_and_sound_ends_that(sound: VirtualSound, tmp_path: Path) -> None:
    microphone = sound.plug_microphone()
    try:
        with listening(sound, tmp_path) as heard:
            heard.until_state("no signal")
            with microphone.room_noise():
                heard.until_state("ready")
                level = heard.until(lambda line: line["event"] == "level" and line["db"] > -80, "a level")
                assert not level["clipping"]
    finally:
        sound.unplug(microphone)
    assert heard.events("started") == []


def test_no_microphone_is_told_and_one_that_is_plugged_in_later_is_used(sound: VirtualSound, tmp_path: Path) -> None:
    with listening(sound, tmp_path) as heard:
        missing = heard.until_state("missing")
        assert "microphone" in missing["detail"].lower()
        microphone = sound.plug_microphone(name="latecomer")
        try:
            heard.until_state("ready", "latecomer")
        finally:
            sound.unplug(microphone)


def test_a_microphone_that_is_unplugged_in_mid_speech_ends_the_utterance_and_is_used_again_when_it_is_back(
    sound: VirtualSound, tmp_path: Path
) -> None:
    microphone = sound.plug_microphone()
    try:
        with listening(sound, tmp_path) as heard:
            heard.until_state("ready")
            with microphone.speaking(BECKETT):
                heard.until(lambda line: line["event"] == "started", "speech")
                sound.unplug(microphone)
                heard.until(lambda line: line["event"] == "ended", "the end of the utterance")
                heard.until_state("missing")
            microphone = sound.plug_microphone()
            heard.until_state("ready")
            with microphone.speaking(BECKETT):
                heard.until(lambda line: line["event"] == "started", "speech again")
    finally:
        sound.unplug(microphone)


def test_the_chosen_microphone_is_replaced_while_it_is_away_and_used_again_when_it_is_back(
    sound: VirtualSound, tmp_path: Path
) -> None:
    other = sound.plug_microphone(name="builtin")
    chosen = sound.plug_microphone(name="headset")
    try:
        with listening(sound, tmp_path, "headset") as heard:
            heard.until_state("ready", "headset")
            sound.unplug(chosen)
            ready = heard.until_state("ready", "builtin")
            assert "headset" in ready["detail"]
            chosen = sound.plug_microphone(name="headset")
            heard.until_state("ready", "headset")
    finally:
        sound.unplug(other)
        sound.unplug(chosen)


def test_the_systems_default_is_followed(sound: VirtualSound, tmp_path: Path) -> None:
    first = sound.plug_microphone(name="first")
    try:
        with listening(sound, tmp_path) as heard:
            heard.until_state("ready", "first")
            second = sound.plug_microphone(name="second", rate=44100, channels=2)
            heard.until_state("ready", "second")
            sound.unplug(second)
    finally:
        sound.unplug(first)


def test_a_default_that_changes_while_somebody_speaks_costs_no_sound(sound: VirtualSound, tmp_path: Path) -> None:
    first = sound.plug_microphone(name="first")
    said = say_to_file("every morning the children bring fresh flowers to the market square")
    try:
        with listening(sound, tmp_path) as heard:
            heard.until_state("ready", "first")
            with first.speaking(said):
                heard.until(lambda line: line["event"] == "started", "speech")
                # The sound server gives the stream the sound of the new default at once.
                second = sound.plug_microphone(name="second")
                second.speak(said)
            heard.until_state("ready", "second")
            sound.unplug(second)
    finally:
        sound.unplug(first)
    assert heard.events("missed") == []
    opened = len(heard.states) - 1 - heard.states[::-1].index("opening")
    assert heard.states[opened - 1] != "hearing", "the other one was opened in mid-speech"


def test_stopping_in_mid_speech_ends_the_utterance(sound: VirtualSound, tmp_path: Path) -> None:
    microphone = sound.plug_microphone()
    try:
        with listening(sound, tmp_path) as heard, microphone.speaking(BECKETT):
            heard.until(lambda line: line["event"] == "started", "speech")
            assert heard.process.stdin is not None
            heard.process.stdin.close()
            heard.until(lambda line: line["event"] == "ended", "the end of the utterance")
            heard.until_state("closed")
            assert heard.process.wait(10) == 0
    finally:
        sound.unplug(microphone)


def test_a_microphone_that_refuses_its_sample_rate_is_opened_at_another_one(
    sound: VirtualSound, microphone: Microphone
) -> None:
    command = [sys.executable, str(PROGRAM.with_name("opening_program.py")), microphone.name, "1000000"]
    ended = subprocess.run(command, env=sound.environment, stdout=subprocess.PIPE, timeout=60, check=True)
    opened = json.loads(ended.stdout)
    assert opened["rate"] == 48000
    assert opened["frames"] > 0


class PlayedMicrophone:
    """A PortAudio stream that always has some quiet sound; whatever is read of it comes on the real reading thread."""

    def __init__(self, **_: object) -> None:
        self.read_available = 320

    def start(self) -> None: ...

    def abort(self, ignore_errors: bool) -> None: ...

    def close(self, ignore_errors: bool) -> None: ...

    def read(self, frames: int) -> tuple[Samples, bool]:
        return np.full((frames, 1), 0.001, np.float32), False


@pytest.mark.parametrize("when", ["stopping", "listening"])
async def test_a_fault_in_judging_the_sound_is_told_and_does_not_keep_the_next_start_from_listening(
    monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    states: asyncio.Queue[MicrophoneChanged] = asyncio.Queue()
    reported: list[dict[str, object]] = []
    broken, opened = threading.Event(), list[Stream]()
    heard = Pipeline.feed

    def feed(pipeline: Pipeline, block: Samples) -> object:
        if broken.is_set() and (when == "listening" or opened[-1]._closing.is_set()):
            raise RuntimeError("a mistake")
        return heard(pipeline, block)

    def opening(device: Device) -> Stream:
        opened.append(Stream(device))
        return opened[-1]

    async def until(state: MicrophoneState) -> MicrophoneChanged:
        async with asyncio.timeout(20):
            while (changed := await states.get()).state is not state:
                pass
        return changed

    def note(event: object) -> None:
        if isinstance(event, MicrophoneChanged):
            states.put_nowait(event)

    monkeypatch.setattr(portaudio(), "InputStream", PlayedMicrophone)
    monkeypatch.setattr(listener, "list_devices", lambda: [Device("desk", "Desk", 16_000, 1, True, 0)])
    monkeypatch.setattr(listener, "open_stream", opening)
    monkeypatch.setattr(Pipeline, "feed", feed)
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
    ears = listener.Listener(note)
    await ears.start()
    await until(MicrophoneState.READY)
    broken.set()
    if when == "stopping":
        await ears.stop()
    told = await until(MicrophoneState.UNUSABLE)
    assert "mistake" in told.detail
    broken.clear()
    await ears.start()
    await until(MicrophoneState.READY)
    await ears.close()
    assert states.get_nowait().state is MicrophoneState.CLOSED
    assert [str(context["exception"]) for context in reported] == ["a mistake"]
