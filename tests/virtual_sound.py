"""A private PulseAudio for tests: microphones that play what a test speaks, and a speaker whose volume can be read.

Nothing of the machine's own sound is used or changed; several copies run side by side, as root too. Runs in the
calling thread, but for one thread that feeds room noise.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import wave
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pulsectl
from bounded import child, wait_for

SPEAKER = "virtual_speaker"

_PULSE_SCRIPT = """\
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-always-sink
load-module module-null-sink sink_name={speaker} rate=48000 channels=2 sink_properties=device.description=Speaker
set-default-sink {speaker}
"""

# The machine's own sound is hidden: only what is written here is a device, and the default one is PulseAudio's.
_ALSA_CONFIGURATION = """\
pcm.!default { type pulse hint { show on description "Default" } }
ctl.!default { type pulse }
"""

_ALSA_SYSTEM_CONFIGURATION = Path("/usr/share/alsa/alsa.conf")


@dataclass
class Microphone:
    """A microphone that is plugged in; what is played into it is what it hears. Silence is digital zero."""

    name: str
    rate: int
    channels: int
    environment: Mapping[str, str]
    folder: Path
    modules: tuple[int, ...]
    plugged: bool = True

    @property
    def sink(self) -> str:
        """The sink behind the microphone: whatever is played there is heard."""
        return f"{self.name}_sink"

    @contextlib.contextmanager
    def speaking(self, sound: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Play a sound file while the block runs; `wait()` of the process returns when it has been played."""
        command = ["paplay", f"--device={self.sink}", "--client-name=voice", sound]
        with child(command, self.environment, self.folder / "paplay.log") as process:
            yield process

    def speak(self, sound: Path, extra_seconds: float = 20.0) -> None:
        """Play a sound file to its end."""
        with wave.open(str(sound)) as reader:
            length = reader.getnframes() / reader.getframerate()
        with self.speaking(sound) as process:
            status = process.wait(length + extra_seconds)
        assert status == 0, f"paplay ended with {status}: {(self.folder / 'paplay.log').read_text()}"

    @contextlib.contextmanager
    def room_noise(self, level_db: float = -66.0, seed: int = 0) -> Iterator[None]:
        """Faint white noise of `level_db` dBFS for as long as the block runs, as any real microphone gives."""
        noise = np.random.default_rng(seed).normal(0.0, 32768 * 10 ** (level_db / 20), 2 * 16000)
        pcm = np.clip(np.rint(noise), -32768, 32767).astype("<i2").tobytes()
        command = ["pacat", "--playback", "--raw", "--format=s16le", "--rate=16000", "--channels=1"]
        command += [f"--device={self.sink}", "--client-name=room", "--latency-msec=200"]
        with child(command, self.environment, self.folder / "pacat.log", stdin=subprocess.PIPE) as process:
            feeder = threading.Thread(target=_feed, args=(process, pcm), name="room noise")
            feeder.start()
            try:
                yield
            finally:
                process.kill()  # The feeder's write then fails, which is what ends it.
                feeder.join(10)


def _feed(process: subprocess.Popen[bytes], pcm: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        while True:
            process.stdin.write(pcm)


@dataclass
class VirtualSound:
    """A running PulseAudio server; `environment` is what a child needs to use it and no other."""

    environment: dict[str, str]
    folder: Path
    _control: pulsectl.Pulse = field(repr=False)
    _process: subprocess.Popen[bytes] = field(repr=False)

    def plug_microphone(self, name: str = "microphone", rate: int = 48000, channels: int = 1) -> Microphone:
        """Add a microphone of this rate (Hz) and number of channels, and make it the default one."""
        layout = f"rate={rate} channels={channels}"
        # Without rewinds its sound comes in pieces of 50 ms, as a real microphone's, and not of two seconds.
        sink = self._control.module_load(
            "module-null-sink",
            f"sink_name={name}_sink {layout} norewinds=true sink_properties=device.description={name}_sink",
        )
        source = self._control.module_load(
            "module-remap-source",
            f"master={name}_sink.monitor source_name={name} {layout} source_properties=device.description={name}",
        )
        self._control.source_default_set(self._control.get_source_by_name(name))
        return Microphone(name, rate, channels, self.environment, self.folder, (source, sink))

    def unplug(self, microphone: Microphone) -> None:
        """Take a microphone away, as if its cable were pulled; nothing when that was done already."""
        if not microphone.plugged:
            return
        microphone.plugged = False
        for module in microphone.modules:
            self._control.module_unload(module)

    @contextlib.contextmanager
    def taken(self, microphone: Microphone) -> Iterator[None]:
        """While the block runs, another program has a microphone for itself: it can be opened and gives nothing.

        That is what PulseAudio does with a device that JACK has reserved.
        """
        source = self._control.get_source_by_name(microphone.name).index
        self._control.source_suspend(source, True)
        try:
            yield
        finally:
            self._control.source_suspend(source, False)

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """While the block runs, the sound server answers nobody; calls into it do not return."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    @property
    def volume(self) -> float:
        """The speaker's volume, 1.0 for full."""
        return float(self._control.get_sink_by_name(SPEAKER).volume.value_flat)

    @volume.setter
    def volume(self, value: float) -> None:
        self._control.volume_set_all_chans(self._control.get_sink_by_name(SPEAKER), value)

    @property
    def muted(self) -> bool:
        """Whether the speaker is muted."""
        return bool(self._control.get_sink_by_name(SPEAKER).mute)

    @property
    def listeners(self) -> list[str]:
        """Names of the programs that record from a microphone now."""
        streams = self._control.source_output_list()
        return [stream.proplist.get("application.name", "?") for stream in streams if _is_program(stream)]

    def wait_for_listener(self, seconds: float = 30.0) -> None:
        """Return when some program records from a microphone."""
        wait_for(lambda: self.listeners, "a program that records from the microphone", seconds)

    def wait_until_heard(self, microphone: Microphone, seconds: float = 60.0) -> None:
        """Return when some program records from this microphone."""

        def heard() -> bool:
            source = self._control.get_source_by_name(microphone.name).index
            return any(each.source == source for each in self._control.source_output_list() if _is_program(each))

        wait_for(heard, f"a program that records from {microphone.name}", seconds)


def _is_program(stream: pulsectl.PulseSourceOutputInfo) -> bool:
    return "application.name" in stream.proplist and int(stream.client) < 0xFFFFFFFF


@contextlib.contextmanager
def virtual_sound(base: Mapping[str, str] | None = None) -> Iterator[VirtualSound]:
    """A PulseAudio server of its own, with a speaker and no microphone yet, for as long as the block runs.

    `base` is the environment it adds to (this process's own when None).
    """
    # A socket's path may have 108 bytes, fewer than pytest's own temporary folders need.
    folder = Path(tempfile.mkdtemp(prefix="sound-"))
    try:
        environment = _environment(folder, os.environ if base is None else base)
        with _pulse_server(folder, environment) as process, _control(environment["PULSE_SERVER"]) as control:
            yield VirtualSound(environment, folder, control, process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: Path, base: Mapping[str, str]) -> dict[str, str]:
    runtime = folder / "pulse"
    runtime.mkdir(mode=0o700)
    alsa = folder / "asound.conf"
    alsa.write_text(_ALSA_CONFIGURATION)
    client = folder / "client.conf"
    client.write_text("autospawn = no\nenable-shm = no\n")
    return {
        **base,
        "PULSE_RUNTIME_PATH": str(runtime),
        "PULSE_STATE_PATH": str(runtime),
        "PULSE_SERVER": f"unix:{folder}/pulse.socket",
        "PULSE_CLIENTCONFIG": str(client),
        "ALSA_CONFIG_PATH": f"{_ALSA_SYSTEM_CONFIGURATION}:{alsa}",
    }


@contextlib.contextmanager
def _pulse_server(folder: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    socket = folder / "pulse.socket"
    script = folder / "pulse.pa"
    script.write_text(_PULSE_SCRIPT.format(socket=socket, speaker=SPEAKER))
    log = folder / "pulseaudio.log"
    command = ["pulseaudio", "-n", "-F", script, "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
    command += ["--disable-shm=yes", "--realtime=no", "--high-priority=no", "--log-target=stderr"]
    with child(command, environment, log) as process:
        wait_for(lambda: socket.exists() or process.poll() is not None, "PulseAudio's socket")
        assert process.poll() is None, f"PulseAudio did not start: {log.read_text()}"
        yield process


@contextlib.contextmanager
def _control(server: str) -> Iterator[pulsectl.Pulse]:
    control = pulsectl.Pulse("test control", server=server, connect=False)

    def connected() -> bool:
        # The socket is there a moment before the server answers on it.
        with contextlib.suppress(pulsectl.PulseError):
            control.connect()  # With a timeout it would always sleep that long; pytest's own limit bounds this wait.
            return True
        return False

    try:
        wait_for(connected, "PulseAudio's answer")
        wait_for(lambda: any(sink.name == SPEAKER for sink in control.sink_list()), "the virtual speaker")
        yield control
    finally:
        control.close()
