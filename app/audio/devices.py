"""Which microphones there are and which one to use. Listing runs on the sound thread (``capture``); choosing is pure.

On Linux a sound server (PulseAudio or PipeWire) knows every microphone by name, with its own rate and channels, and
notices what is plugged in; PortAudio sees only the sound server itself, once. So names come from the server and the
stream is opened through PortAudio's ``pulse`` device. Elsewhere, and without a sound server, PortAudio's list counts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.app.audio.errors import AudioError

SERVER_DEVICES = ("pulse", "pipewire", "default")
_MOST_CHANNELS = 8
"""More than any microphone array for speech has; plug-in devices claim 32 or 128."""


@dataclass(frozen=True, slots=True)
class Device:
    """One microphone: ``name`` identifies it, ``label`` is for people, ``stream`` is PortAudio's device to open."""

    name: str
    label: str
    rate: int
    channels: int
    is_default: bool
    stream: int
    source: str = ""
    """The sound server's name for it; empty where there is none."""
    muted: bool = False
    is_monitor: bool = False
    """It plays back what the speakers get; never chosen unless it is named."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The device to open, if there is one, and a line for people when it is not the one they asked for."""

    device: Device | None
    detail: str = ""


def choose(devices: Sequence[Device], wanted: str, blocked: Collection[str] = ()) -> Choice:
    """The device named ``wanted`` (name or label), or the default one when ``wanted`` is empty or not there.

    ``blocked`` are names of devices that are there and give nothing; one that does is used in their place, if any does.
    """
    choice = _wish(devices, wanted)
    if choice.device is None or choice.device.name not in blocked:
        return choice
    other = _default([device for device in devices if device.name not in blocked])
    if other is None:
        return choice
    return Choice(other, f"“{choice.device.label}” gives no sound; listening with “{other.label}” until it does.")


def _wish(devices: Sequence[Device], wanted: str) -> Choice:
    if wanted:
        for device in devices:
            if wanted in (device.name, device.label):
                return Choice(device, _muted(device))
    default = _default(devices)
    if default is None:
        return Choice(None, "No microphone was found. Connect one, or allow one in the system's sound settings.")
    if wanted:
        return Choice(default, f"“{wanted}” is not connected; listening with “{default.label}” until it is back.")
    return Choice(default, _muted(default))


def _default(devices: Sequence[Device]) -> Device | None:
    microphones = [device for device in devices if not device.is_monitor]
    return next((device for device in microphones if device.is_default), None) or next(iter(microphones), None)


_RATES = (48_000, 44_100, 32_000, 16_000, 96_000)
_CHANNELS = (1, 2)


def formats(device: Device) -> Iterator[Device]:
    """The device as it says it is, and then as it may be opened all the same: some refuse what they have told."""
    yield device
    for channels in dict.fromkeys((device.channels, *_CHANNELS)):
        for rate in dict.fromkeys((device.rate, *_RATES)):
            if (rate, channels) != (device.rate, device.channels):
                yield replace(device, rate=rate, channels=channels)


def _muted(device: Device) -> str:
    return f"“{device.label}” is muted in the system's sound settings." if device.muted else ""


def list_devices() -> list[Device]:
    """All devices that sound can come from; raises AudioError when there is no sound system at all."""
    sounddevice = portaudio()
    with translated(sounddevice):
        return _devices(sounddevice)


def _devices(sounddevice: Any) -> list[Device]:
    streams = [(index, info) for index, info in enumerate(sounddevice.query_devices()) if info["max_input_channels"]]
    server_stream = next((i for name in SERVER_DEVICES for i, info in streams if info["name"] == name), None)
    if server_stream is not None:
        sources = _server_sources(server_stream)
        if sources is not None:
            return sources
    default = sounddevice.default.device[0]
    return [_portaudio_device(index, info, index == default) for index, info in streams]


def reread() -> None:
    """Make PortAudio look for devices anew. Only when no stream is open: this ends them all."""
    sounddevice = portaudio()
    with translated(sounddevice):
        sounddevice._terminate()
        sounddevice._initialize()


def portaudio() -> Any:
    """The sounddevice module, or an AudioError that says what is missing."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        raise AudioError(
            "sound_system_missing",
            "Sound cannot be recorded: PortAudio is missing. On Debian or Ubuntu: sudo apt install libportaudio2"
            " libasound2-plugins; then pip install 'sayso[desktop]'.",
        ) from error
    return sounddevice


@contextlib.contextmanager
def translated(sounddevice: Any) -> Iterator[None]:
    """Turn what PortAudio raises into an AudioError."""
    try:
        yield
    except sounddevice.PortAudioError as error:
        raise AudioError(
            "sound_system_failed", f"The sound system reports a fault ({error.args[0] if error.args else error})."
        ) from error


@contextlib.contextmanager
def selected(device: Device) -> Iterator[None]:
    """While the block runs, a stream opened through the sound server records from this device.

    The ALSA plug-in of the sound server takes the device from the environment and from nowhere else.
    """
    before = os.environ.get("PULSE_SOURCE")
    if device.source:
        os.environ["PULSE_SOURCE"] = device.source
    try:
        yield
    finally:
        if device.source:
            os.environ.pop("PULSE_SOURCE", None)
            if before is not None:
                os.environ["PULSE_SOURCE"] = before


def _portaudio_device(index: int, info: dict[str, Any], is_default: bool) -> Device:
    name = str(info["name"])
    channels = min(int(info["max_input_channels"]), _MOST_CHANNELS)
    if name in SERVER_DEVICES:
        channels = 1
    return Device(name, name, int(info["default_samplerate"]), channels, is_default, index)


def _server_sources(stream: int) -> list[Device] | None:
    """What the sound server lists, or None when there is no sound server to ask."""
    try:
        import pulsectl
    except ImportError:
        return None
    try:
        with pulsectl.Pulse("sayso", connect=False) as server:
            # pulsectl's own time limit is always used up in full; the sound thread has one of its own.
            server.connect(autospawn=False)
            default = server.server_info().default_source_name
            return [_server_device(source, default, stream) for source in server.source_list()]
    except pulsectl.PulseError:
        return None


def _server_device(source: Any, default: str, stream: int) -> Device:
    return Device(
        name=source.name,
        label=source.description or source.name,
        rate=int(source.sample_spec.rate),
        channels=min(int(source.channel_count), _MOST_CHANNELS),
        is_default=source.name == default,
        stream=stream,
        source=source.name,
        muted=bool(source.mute),
        is_monitor=source.monitor_of_sink_name is not None,
    )
