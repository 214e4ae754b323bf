"""The microphone's stream. Three threads meet here:

- the stream's own *reading thread* takes what has come from PortAudio, never waiting in it, and hands it on;
- one *sound thread* makes every call that may block (list, open, close): a call that never returns costs this thread,
  never the event loop, and is reported once its time is up;
- the event loop owns everything else.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from sayso.app.audio.devices import Device, formats, portaudio, selected
from sayso.app.audio.errors import AudioError
from sayso.app.audio.pipeline import Samples

_Result = TypeVar("_Result")

_BLOCK_S = 0.02
"""How often a stream is read while somebody speaks: shorter than a frame of the gate."""
_CALM_S = 0.15
"""How often while nobody does: each time costs more than its audio. What is said belongs to the utterance all the same,
by its pre-roll.
"""
_LATENCY_S = 0.24
"""What the sound system keeps for a busy machine, in four pieces: each comes as soon as it is there."""


class SoundThread:
    """Runs sound calls one after another on one daemon thread, each waited for no longer than its bound."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._stuck = False
        self._others = 0
        threading.Thread(target=self._work, name="sound", daemon=True).start()

    @property
    def is_stuck(self) -> bool:
        """Whether a call did not come back in its time and still has not."""
        return self._stuck

    @contextlib.contextmanager
    def another_stream(self) -> Iterator[None]:
        """While the block runs, a stream besides the listener's may be open."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1

    @property
    def has_other_streams(self) -> bool:
        """Whether PortAudio must not be begun anew, which would end streams under their owners' hands."""
        return self._others > 0

    async def call(
        self,
        function: Callable[[], _Result],
        timeout_s: float,
        discard: Callable[[_Result], object] | None = None,
    ) -> _Result:
        """Run ``function`` on the sound thread and give its result.

        Raises AudioError ``sound_system_stuck`` when it is not back after ``timeout_s``, and until it is back. A result
        that nobody waits for any more goes to ``discard``, on the sound thread.
        """
        if self._stuck:
            raise _stuck()
        future: Future[_Result] = Future()
        self._jobs.put(lambda: _run(function, future))
        try:
            # Not wait_for: before Python 3.12 it loses a cancel that comes together with the result.
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            self._stuck = True
            # PortAudio's own clean-up at exit would wait for the call that hangs.
            atexit.unregister(portaudio()._exit_handler)
            future.add_done_callback(lambda late: self._arrived_late(late, discard))
            raise _stuck() from error
        except asyncio.CancelledError:
            future.add_done_callback(lambda late: self._discard(late, discard))
            raise

    def close(self) -> None:
        """Let the thread end after the calls it already has."""
        self._jobs.put(None)

    def _arrived_late(self, future: Future[_Result], discard: Callable[[_Result], object] | None) -> None:
        self._stuck = False
        self._discard(future, discard)

    def _discard(self, future: Future[_Result], discard: Callable[[_Result], object] | None) -> None:
        if discard is None or future.cancelled() or future.exception() is not None:
            return
        result = future.result()
        self._jobs.put(lambda: (discard(result), None)[1])

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _run(function: Callable[[], _Result], future: Future[_Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001  It belongs to whoever waits for the call.
        future.set_exception(error)


def _stuck() -> AudioError:
    return AudioError(
        "sound_system_stuck",
        "The sound system does not answer. Unplug and reconnect the microphone, or restart the sound system.",
    )


class Stream:
    """An open microphone: opened and closed on the sound thread, read on a thread of its own.

    ``device`` has the rate and channels that it was opened with.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._closing = threading.Event()
        self._reader: threading.Thread | None = None
        self._ended = self._gone = False
        self._fault: Exception | None = None
        self._sounddevice = sounddevice = portaudio()
        try:
            # Read now and then and not called back: a callback for each piece takes several times the processor time.
            self._handle: Any = sounddevice.InputStream(
                device=device.stream,
                samplerate=device.rate,
                channels=device.channels,
                dtype="float32",
                latency=_LATENCY_S,
            )
        except (sounddevice.PortAudioError, ValueError) as error:
            raise _refusal(device, error) from error
        try:
            self._handle.start()
        except sounddevice.PortAudioError as error:
            self.close()
            raise _refusal(device, error) from error

    def listen(self, on_block: Callable[[Samples], bool], on_end: Callable[[], None]) -> None:
        """Begin to read. Both are called on the reading thread: ``on_block`` with each block of shape (frames,
        channels), to say whether the next one may be longer, and ``on_end`` when nothing more will come.
        """
        self._reader = threading.Thread(target=self._read, args=(on_block, on_end), name="microphone", daemon=True)
        self._reader.start()

    @property
    def has_ended(self) -> bool:
        """Whether no block will come any more."""
        return self._ended

    @property
    def is_gone(self) -> bool:
        """Whether it has ended because the device is gone."""
        return self._gone

    @property
    def fault(self) -> Exception | None:
        """What ``on_block`` has raised, which has ended the stream."""
        return self._fault

    def finish(self) -> None:
        """Let the reading thread end with what is there already; never waits."""
        self._closing.set()

    def close(self) -> None:
        """End the stream; only on the sound thread."""
        self.finish()
        if self._reader is not None:
            self._reader.join()
        self._handle.abort(ignore_errors=True)
        self._handle.close(ignore_errors=True)

    def _read(self, on_block: Callable[[Samples], bool], on_end: Callable[[], None]) -> None:
        calm, last = True, False
        try:
            while not last:
                last = self._closing.wait(_CALM_S if calm else _BLOCK_S)
                if available := self._handle.read_available:
                    calm = on_block(self._handle.read(available)[0])
        except self._sounddevice.PortAudioError:
            self._gone = True
        except Exception as error:  # noqa: BLE001  It belongs to whoever listens.
            self._fault = error
        finally:
            self._ended = True
            on_end()


_DEVICE_UNAVAILABLE = -9985
_FORMAT_REFUSED = (-9997, -9998)
"""PortAudio's numbers for a sample rate and for channels that a device does not take."""


def _refusal(device: Device, error: Exception) -> AudioError:
    """What a device that cannot be opened means; PortAudio's errors carry text and number."""
    text, number = error.args[0] if error.args else str(error), _number(error)
    if number in _FORMAT_REFUSED:
        return AudioError(
            "format_refused",
            f"“{device.label}” takes neither its own sample rate nor a usual one. Choose another microphone, or another"
            " format for it in the system's sound settings.",
        )
    if number == _DEVICE_UNAVAILABLE:
        return AudioError(
            "microphone_busy",
            f"“{device.label}” is in use by another program. Close that, or choose another microphone; listening goes"
            " on by itself when it is free.",
        )
    return AudioError(
        "microphone_busy",
        f"“{device.label}” cannot be opened ({text}). Close other programs that use it, or choose another microphone.",
    )


def _number(error: Exception) -> int:
    """PortAudio's number of an error, 0 where it has none."""
    return int(error.args[1]) if len(error.args) > 1 else 0


def open_stream(device: Device) -> Stream:
    """Open a microphone at its own rate and channels, or others that it takes; only on the sound thread.

    Raises AudioError ``microphone_busy`` or ``format_refused``.
    """
    refused: AudioError | None = None
    with selected(device):
        for each in formats(device):
            try:
                return Stream(each)
            except AudioError as error:
                if error.code != "format_refused":
                    raise
                refused = refused or error
    assert refused is not None
    raise refused
