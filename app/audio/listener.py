"""The listening microphone: opens it, follows it, brings it back, and turns what it gives into utterances.

Everything here runs on the event loop; blocking sound calls go to the sound thread (``capture``), and samples are
judged on the thread that reads them (``hearing``). States: opening → ready (only after the first real samples) ⇄
hearing; no signal while there are only zeros; missing while there is no device, unusable while there is one that gives
nothing, with a new look every two seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from sayso.app.audio.bell import Bell
from sayso.app.audio.capture import SoundThread, Stream, open_stream
from sayso.app.audio.continuity import LEAST_S
from sayso.app.audio.devices import Choice, Device, choose, list_devices, reread
from sayso.app.audio.errors import AudioError
from sayso.app.audio.gate import Ended, GateOptions, Started, Voiced
from sayso.app.audio.hearing import Dated, Heard, Hearing
from sayso.app.audio.level import Level
from sayso.app.audio.pipeline import Samples
from sayso.app.audio.probe import gives_sound
from sayso.app.audio.source_watch import SourceWatch
from sayso.app.beat import next_beat
from sayso.app.errors import report_failure
from sayso.app.snapshot import MicrophoneState

_OPEN_TIMEOUT_S = 8.0
"""Bluetooth headsets take some seconds to change their profile."""
_CALL_TIMEOUT_S = 5.0
_LOOK_EVERY_S = 2.0
"""How often devices are looked at: for a new default, for the chosen one's return, for any at all."""
_PUT_OFF_AT_MOST = 5
"""Looks for which another one waits until what is being said is over."""
_PROBE_AT_EACH = 8
"""Looks until one that gave nothing is tried again beside the one that is used in its place."""
_OF_A_DEVICE = ("microphone_busy", "format_refused")
"""Errors of one microphone; others concern them all."""
_LOST_PAUSE_S = 0.5
_FIRST_SAMPLES_S = 8.0
_SAMPLES_EVERY_S = 4.0
"""A stream that gives nothing for so long is dead, whatever PortAudio says."""
_BEAT_S = 2.0
"""How often a stream is looked at, whether it gives anything."""
_FINISH_S = 0.5
"""A block that is being read takes no longer, unless the sound system hangs."""
_MISTAKE = (
    "Listening ended by a mistake inside Sayso, and what was said last may be missing; see the log. Stop and start it"
    " again."
)


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """An utterance begins; ``at`` is the time of its first sample in seconds since the epoch."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechAudio:
    """The next samples of the utterance: float32 mono, 16 kHz, pre-roll included."""

    samples: Samples


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """The utterance is over; ``at`` is the time of its last sample in seconds since the epoch."""

    at: float


@dataclass(frozen=True, slots=True)
class MicrophoneChanged:
    """What the microphone does now; ``detail`` is a line for people, often empty."""

    state: MicrophoneState
    name: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SpeechMissed:
    """So many seconds were not heard: the computer was too slow, or the microphone was gone while somebody spoke."""

    seconds: float


ListenerEvent = SpeechStarted | SpeechAudio | SpeechEnded | SpeechMissed | Level | MicrophoneChanged


class Listener:
    """Gives ``on_event`` what the microphone hears, from ``start`` to ``stop``; can be started again."""

    def __init__(self, on_event: Callable[[ListenerEvent], None], options: GateOptions | None = None) -> None:
        self._on_event = on_event
        self._options = options or GateOptions()
        self._sound = SoundThread()
        self._watch = SourceWatch()
        self._task: asyncio.Task[None] | None = None
        self._hearing: Hearing | None = None
        self._state = MicrophoneChanged(MicrophoneState.CLOSED)
        self._told_time = 0.0
        self._cut_s: float | None = None
        """When a microphone was lost in the middle of an utterance, until one is heard again."""
        self._held = False
        self._blocked: set[str] = set()
        """Names of microphones that are there and give nothing, so that another one is used if there is one."""

    @property
    def microphone(self) -> MicrophoneChanged:
        """The last state that was told."""
        return self._state

    @property
    def sound(self) -> SoundThread:
        """The thread of all calls to the sound system, for whoever else has some to make."""
        return self._sound

    async def start(self, device: str = "") -> None:
        """Listen to the device of this name or label; empty follows the system's default. Returns at once."""
        await self.stop()
        self._cut_s = None
        self._blocked.clear()
        self._task = asyncio.create_task(self._listen(device), name="listener")
        self._task.add_done_callback(report_failure)

    async def stop(self) -> None:
        """Close the microphone; an open utterance ends with what was said so far, and a fault in that is a state."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """Stop for good."""
        await self.stop()
        with contextlib.suppress(AudioError):
            await self._sound.call(self._watch.close, _CALL_TIMEOUT_S)
        self._sound.close()

    def expedite(self) -> None:
        """What was heard is a complete command already: wait less for the end of the utterance."""
        if self._hearing is not None:
            self._hearing.expedite()

    def press(self) -> None:
        """From now on all is one utterance, voice or not, until ``release``; of a closed microphone once it opens."""
        self._held = True
        if self._hearing is not None:
            self._hearing.press()

    def release(self) -> None:
        """End the utterance that ``press`` began, after a tail of a quarter of a second."""
        self._held = False
        if self._hearing is not None:
            self._hearing.release()

    @property
    def is_running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._task is not None

    def set_wait_ms(self, wait_ms: int) -> None:
        """The pause that ends an utterance, from now on."""
        self._set_options(replace(self._options, wait_ms=wait_ms))

    def set_by_voice(self, on: bool) -> None:
        """Whether a voice opens an utterance, from now on; without, only ``press`` does."""
        self._set_options(replace(self._options, by_voice=on))

    def _set_options(self, options: GateOptions) -> None:
        self._options = options
        if self._hearing is not None:
            self._hearing.set_options(options)

    async def microphones(self) -> list[Device]:
        """Those that can be listened to now. Raises AudioError."""
        return [device for device in await self._devices() if not device.is_monitor]

    async def _listen(self, wanted: str) -> None:
        try:
            self._tell(MicrophoneState.OPENING)
            while True:
                lost = await self._listen_once(wanted)
                if lost is not None:
                    # Just lost, another may be there at once; none found, a new look may wait.
                    pause = _LOOK_EVERY_S if self._state.state.is_without else _LOST_PAUSE_S
                    self._tell(lost.state, self._state.name, lost.detail)
                    await asyncio.sleep(pause)
                    await self._look_anew()
        except asyncio.CancelledError:
            self._tell(MicrophoneState.CLOSED)
            raise
        except Exception:
            # A mistake of ours: what it was is the event loop's to report, and that nobody listens the user's to know.
            self._tell(MicrophoneState.UNUSABLE, detail=_MISTAKE)
            raise

    async def _listen_once(self, wanted: str) -> MicrophoneChanged | None:
        """Open a device and listen until it is lost or another is to be used; None then, else why nothing is heard."""
        choice = Choice(None)
        try:
            choice = await self._choose(wanted)
            if choice.device is None:
                return MicrophoneChanged(MicrophoneState.MISSING, detail=choice.detail)
            if not self._state.state.is_without:
                self._tell(MicrophoneState.OPENING, choice.device.label, choice.detail)
            lost = await self._use(choice, wanted)
        except AudioError as error:
            lost = MicrophoneChanged(MicrophoneState.UNUSABLE, detail=str(error))
            if error.code not in _OF_A_DEVICE:
                self._blocked.clear()
                return lost
        if choice.device is not None and lost is not None and lost.state is MicrophoneState.UNUSABLE:
            name = choice.device.name
            # When all of them give nothing, each is tried in its turn.
            self._blocked = {name} if name in self._blocked else self._blocked | {name}
        return lost

    async def _use(self, choice: Choice, wanted: str) -> MicrophoneChanged | None:
        assert choice.device is not None
        device, news = choice.device, Bell()
        stream = await self._sound.call(lambda: open_stream(device), _OPEN_TIMEOUT_S, Stream.close)
        hearing = Hearing(stream.device.rate, stream.device.channels, self._options, news.ring)
        self._hearing = hearing
        if self._held:
            hearing.press()
        watch = asyncio.create_task(self._until_other(wanted, device, hearing), name="microphone watch")
        heart = asyncio.create_task(_until_silent(hearing), name="microphone heartbeat")
        for each in (watch, heart):
            each.add_done_callback(lambda _: news.set())
        try:
            stream.listen(hearing.take, news.ring)
            while not (watch.done() or heart.done() or stream.has_ended):
                await news.wait()
                news.clear()
                self._hear(hearing, stream.device.label, choice.detail)
                if hearing.blocks:
                    self._blocked.discard(device.name)
        finally:
            heart.cancel()
            watch.cancel()
            self._hearing = None
            await self._finish(stream, hearing, news)
        if watch.done() and not watch.cancelled():
            return watch.result()
        return _disconnected(device) if stream.is_gone else _silent(device)

    async def _finish(self, stream: Stream, hearing: Hearing, news: Bell) -> None:
        """Hear the stream out and close it; raises what went wrong in judging it, be it the last block."""
        try:
            stream.finish()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FINISH_S):
                    while not stream.has_ended:
                        await news.wait()
                        news.clear()
            self._hear(hearing, self._state.name, self._state.detail)
            self._cut_s = hearing.heard_s if hearing.hears_voice else self._cut_s
            self._pass_on(hearing.close())
        finally:
            await self._close(stream)
        if stream.fault is not None:
            raise stream.fault

    def _hear(self, hearing: Hearing, label: str, detail: str) -> None:
        """Tell all the news, in order."""
        for heard in hearing.collect():
            self._account(heard)
            self._pass_on(heard.events)
            self._tell(heard.state, label, detail)
            if heard.level is not None:
                self._on_event(heard.level)

    def _account(self, heard: Heard) -> None:
        """Tell what was not heard, before this or in the gap that it ends."""
        missed_s = heard.missed_s
        if self._cut_s is not None:
            missed_s, self._cut_s = heard.at_s - self._cut_s, None
        if missed_s >= LEAST_S:
            self._on_event(SpeechMissed(missed_s))

    async def _until_other(self, wanted: str, device: Device, hearing: Hearing) -> None:
        """Return when another device is to be used: the default changed, or the chosen one is back or gone."""
        look, put_off = True, 0
        for beat in itertools.count(1):
            await next_beat(_LOOK_EVERY_S)
            with contextlib.suppress(AudioError):
                if beat % _PROBE_AT_EACH == 0 and device.name not in self._blocked:
                    look = await self._probe(wanted) or look
                look = await self._sound.call(self._watch.has_changed, _CALL_TIMEOUT_S) or look
                if look and is_other(other := (await self._choose(wanted)).device, device):
                    # The stream goes on, of the one before or moved by the sound server: no word falls between the two.
                    if other is None or not hearing.hears_voice or put_off == _PUT_OFF_AT_MOST:
                        return
                    put_off += 1
                    continue
                look, put_off = False, 0

    async def _probe(self, wanted: str) -> bool:
        """Whether the one that is wanted gives sound again."""
        device = choose(await self._devices(), wanted).device if self._blocked else None
        if device is None or device.name not in self._blocked or not await gives_sound(self._sound, device):
            return False
        self._blocked.discard(device.name)
        return True

    async def _choose(self, wanted: str) -> Choice:
        devices = await self._devices()
        # What was unplugged and plugged in again may give sound.
        self._blocked &= {device.name for device in devices}
        return choose(devices, wanted, self._blocked)

    async def _devices(self) -> list[Device]:
        return await self._sound.call(list_devices, _CALL_TIMEOUT_S)

    async def _look_anew(self) -> None:
        if self._sound.has_other_streams:
            return
        with contextlib.suppress(AudioError):
            await self._sound.call(reread, _CALL_TIMEOUT_S)

    async def _close(self, stream: Stream) -> None:
        # A stream that cannot be closed leaves the sound thread stuck, which the next call reports.
        with contextlib.suppress(AudioError):
            await asyncio.shield(self._sound.call(stream.close, _CALL_TIMEOUT_S))

    def _pass_on(self, events: tuple[Dated, ...]) -> None:
        for dated in events:
            # Blocks come unevenly, but time does not go back.
            self._told_time = max(self._told_time, dated.at)
            match dated.event:
                case Started():
                    self._on_event(SpeechStarted(self._told_time))
                case Voiced(samples):
                    self._on_event(SpeechAudio(samples))
                case Ended():
                    self._on_event(SpeechEnded(self._told_time))

    def _tell(self, state: MicrophoneState, name: str = "", detail: str = "") -> None:
        changed = replace(self._state, state=state, name=name or self._state.name, detail=detail)
        if changed != self._state:
            self._state = changed
            self._on_event(changed)


async def _until_silent(hearing: Hearing) -> None:
    """Return when a stream has given nothing for so long that it is dead, whatever the sound system says.

    Counted in beats: after a suspend the clock has gone on and the samples are still to come.
    """
    patience_s, blocks = _FIRST_SAMPLES_S, 0
    while patience_s > 0.0:
        await next_beat(_BEAT_S)
        patience_s = patience_s - _BEAT_S if hearing.blocks == blocks else _SAMPLES_EVERY_S
        blocks = hearing.blocks


def is_other(now: Device | None, used: Device) -> bool:
    """Whether another device, or none, is to be used now.

    A device that only PortAudio names says nothing: the sound server did not answer, and a dead stream will tell.
    """
    return now is None or (now != used and bool(now.source))


def _silent(device: Device) -> MicrophoneChanged:
    detail = (
        f"“{device.label}” is open and gives no sound: another program may have taken it, or the sound system hangs."
    )
    return MicrophoneChanged(MicrophoneState.UNUSABLE, detail=f"{detail} Listening goes on as soon as it gives some.")


def _disconnected(device: Device) -> MicrophoneChanged:
    detail = f"“{device.label}” was disconnected; listening goes on when it is back."
    return MicrophoneChanged(MicrophoneState.MISSING, detail=detail)
