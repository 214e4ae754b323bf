"""Records some seconds of a microphone and plays them back. They are in memory only, and gone with the ``Recording``.

Blocking sound calls go to the sound thread (``capture``); the rest runs on the event loop. The stream is one of its
own, so that listening goes on beside it where the sound system lets two programs record.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayso.app.audio.bell import Bell
from sayso.app.audio.capture import SoundThread, Stream, open_stream
from sayso.app.audio.devices import SERVER_DEVICES, Device, choose, list_devices, portaudio
from sayso.app.audio.errors import AudioError
from sayso.app.audio.level import FLOOR_DB, Level, Meter
from sayso.app.audio.pipeline import Samples

_OPEN_S = 8.0
_CALL_S = 5.0
_FIRST_SAMPLES_S = 8.0
_SAMPLES_EVERY_S = 3.0
_PLAY_MARGIN_S = 8.0
_QUIET_DB = -45.0
"""The loudest of speech is well above this, unless the microphone is far away or turned down."""


@dataclass(frozen=True, eq=False)
class Recording:
    """``samples``: float32 mono at ``rate``, the loudest of the microphone's channels."""

    label: str
    samples: Samples
    rate: int
    loudest_db: float
    """Loudest level of 50 ms in dBFS."""
    clipped: bool
    no_signal: bool
    """Whether it ends in a second of nothing but zeros."""


def verdict(recording: Recording) -> str:
    """How the microphone was, and what to do, for people."""
    if recording.no_signal:
        return f"“{recording.label}” gave nothing but silence. Unmute it, switch it on, or choose another one."
    if recording.clipped:
        return "It was too loud in places and is distorted there. Turn the microphone's volume down a little."
    if recording.loudest_db < _QUIET_DB:
        return f"It is very quiet ({recording.loudest_db:.0f} dBFS at most). Turn the volume up, or come nearer."
    return f"The level is good ({recording.loudest_db:.0f} dBFS at most)."


async def record(
    sound: SoundThread, wanted: str, seconds: float, on_level: Callable[[Level], None], on_open: Callable[[], None]
) -> Recording:
    """Record the microphone of this name or label (empty: the default). Raises AudioError.

    ``on_open`` is called with the first samples, ``on_level`` every 50 ms.
    """
    choice = choose(await sound.call(list_devices, _CALL_S), wanted)
    if choice.device is None:
        raise AudioError("microphone_missing", choice.detail)
    device, bell = choice.device, Bell()

    arrived: deque[Samples] = deque()

    def on_block(block: Samples) -> bool:
        arrived.append(block)
        bell.ring()
        return False

    with sound.another_stream():
        stream = await sound.call(lambda: open_stream(device), _OPEN_S, Stream.close)
        try:
            stream.listen(on_block, bell.ring)
            return await _read(stream.device, arrived, bell, round(seconds * stream.device.rate), on_level, on_open)
        finally:
            with contextlib.suppress(AudioError):
                await asyncio.shield(sound.call(stream.close, _CALL_S))


async def _read(
    device: Device,
    arrived: deque[Samples],
    bell: Bell,
    wanted: int,
    on_level: Callable[[Level], None],
    on_open: Callable[[], None],
) -> Recording:
    meter, count = Meter(device.rate), 0
    blocks: list[Samples] = []
    levels: list[Level] = []
    while count < wanted:
        try:
            async with asyncio.timeout(_SAMPLES_EVERY_S if blocks else _FIRST_SAMPLES_S):
                while not arrived:
                    bell.clear()
                    await bell.wait()
        except TimeoutError as error:
            raise AudioError("microphone_silent", _no_samples(device)) from error
        block = arrived.popleft()
        if not blocks:
            on_open()
        blocks.append(block)
        count += len(block)
        if (level := meter.feed(block)) is not None:
            levels.append(level)
            on_level(level)
    return Recording(
        label=device.label,
        samples=_mono(np.concatenate(blocks)[:wanted]),
        rate=device.rate,
        loudest_db=max((level.db for level in levels), default=FLOOR_DB),
        clipped=any(level.clipping for level in levels),
        no_signal=meter.no_signal,
    )


def _no_samples(device: Device) -> str:
    return f"“{device.label}” was opened but gives no sound. Reconnect it, or choose another one."


def _mono(samples: Samples) -> Samples:
    """The loudest channel; dead ones of a headset would only halve it."""
    loudest = int(np.argmax(np.einsum("ij,ij->j", samples, samples)))
    return np.ascontiguousarray(samples[:, loudest])


async def play(sound: SoundThread, recording: Recording) -> None:
    """Play it through the default output to its end. Raises AudioError."""
    done = Bell()
    with sound.another_stream():
        player = await sound.call(lambda: Player(recording, done.ring), _OPEN_S, Player.close)
        try:
            async with asyncio.timeout(len(recording.samples) / recording.rate + _PLAY_MARGIN_S):
                await done.wait()
        except TimeoutError as error:
            text = "The loudspeakers did not take the sound in time. Check the output in the system's sound settings."
            raise AudioError("output_stuck", text) from error
        finally:
            with contextlib.suppress(AudioError):
                await asyncio.shield(sound.call(player.close, _CALL_S))


class Player:
    """An output stream that plays one recording; made and closed on the sound thread."""

    def __init__(self, recording: Recording, on_finished: Callable[[], None]) -> None:
        self._samples = recording.samples
        self._position = 0
        self._sounddevice = sounddevice = portaudio()
        self._handle: Any = None
        try:
            self._handle = sounddevice.OutputStream(
                device=_output(sounddevice),
                samplerate=recording.rate,
                channels=1,
                dtype="float32",
                callback=self._fill,
                finished_callback=on_finished,
            )
            self._handle.start()
        except (sounddevice.PortAudioError, ValueError) as error:
            self.close()
            reason = error.args[0] if error.args else error
            text = f"The sound cannot be played ({reason}). Check the output in the system's sound settings."
            raise AudioError("output_failed", text) from error

    def close(self) -> None:
        """End the stream; only on the sound thread."""
        if self._handle is not None:
            self._handle.abort(ignore_errors=True)
            self._handle.close(ignore_errors=True)

    def _fill(self, block: Samples, frames: int, time: object, status: object) -> None:
        """PortAudio's callback: copy and leave."""
        piece = self._samples[self._position : self._position + frames]
        block[: len(piece), 0] = piece
        block[len(piece) :] = 0.0
        self._position += frames
        if self._position >= len(self._samples):
            raise self._sounddevice.CallbackStop


def _output(sounddevice: Any) -> int:
    """The output of the sound server, which plays on the default one of its own, or PortAudio's default."""
    outputs = {
        info["name"]: index for index, info in enumerate(sounddevice.query_devices()) if info["max_output_channels"]
    }
    served = next((outputs[name] for name in SERVER_DEVICES if name in outputs), None)
    chosen = sounddevice.default.device[1] if served is None else served
    if chosen < 0:
        raise AudioError("output_missing", "No loudspeakers or headphones were found. Connect some.")
    return int(chosen)
