"""One run of ``sayso listen``: sound to turns, turns to text, text to the terminal, on one event loop."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sayso.app.audio.gate import Ended, GateEvent, Started, Voiced
from sayso.app.audio.listener import (
    Listener,
    ListenerEvent,
    MicrophoneChanged,
    SpeechAudio,
    SpeechEnded,
    SpeechMissed,
    SpeechStarted,
)
from sayso.app.audio.pipeline import Pipeline
from sayso.app.audio.resample import SAMPLE_RATE
from sayso.app.audio.sound_file import open_sound_file
from sayso.app.cli.terminal import Writer
from sayso.app.cli.utterances import Report, Utterances
from sayso.app.realtime.client import EndpointSource, RealtimeClient
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.realtime.errors import RealtimeError
from sayso.app.realtime.events import Behind, Connection, RealtimeEvent, TurnDone, TurnStable, TurnTentative
from sayso.app.snapshot import MicrophoneState, ServerState

if TYPE_CHECKING:
    from sayso.app.cli.acting import Acting

_BLOCK_S = 0.04
_LAST_WORDS_S = 60.0
"""Patience for the text of what was said last, a model that still loads included."""

_MICROPHONE_REMARKS = {
    MicrophoneState.OPENING: "Opening the microphone …",
    MicrophoneState.NO_SIGNAL: "The microphone gives no signal: it may be muted or switched off.",
}


class Source(Protocol):
    """Something to listen to: gives events until it ends or ``stop`` is set."""

    async def run(self, on_event: Callable[[ListenerEvent], None], stop: asyncio.Event) -> None: ...
    def expedite(self) -> None: ...


class MicrophoneSource:
    """The microphone of this name, until ``stop``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._listener: Listener | None = None

    def expedite(self) -> None:
        """What was heard is a complete command already."""
        if self._listener is not None:
            self._listener.expedite()

    async def run(self, on_event: Callable[[ListenerEvent], None], stop: asyncio.Event) -> None:
        listener = self._listener = Listener(on_event)
        await listener.start(self._name)
        try:
            await stop.wait()
        finally:
            await listener.close()


class FileSource:
    """A sound file as if it were spoken; ``fast`` feeds it without waiting."""

    def __init__(self, path: Path, fast: bool) -> None:
        self._file = open_sound_file(path)
        self._fast = fast
        self._pipeline = Pipeline(self._file.rate, self._file.channels)

    def expedite(self) -> None:
        """What was heard is a complete command already."""
        self._pipeline.expedite()

    async def run(self, on_event: Callable[[ListenerEvent], None], stop: asyncio.Event) -> None:
        pipeline = self._pipeline
        began, clock, fed = time.time(), time.monotonic(), 0.0
        for block in self._file.blocks(_BLOCK_S):
            _, events = pipeline.feed(block)
            self._pass_on(events, began, on_event)
            fed += len(block) / self._file.rate
            wait = 0.0 if self._fast else clock + fed - time.monotonic()
            if await _is_set(stop, wait):
                break
        self._pass_on(pipeline.close(), began, on_event)

    def _pass_on(self, events: list[GateEvent], began: float, on_event: Callable[[ListenerEvent], None]) -> None:
        for event in events:
            match event:
                case Started(sample):
                    on_event(SpeechStarted(began + sample / SAMPLE_RATE))
                case Voiced(samples):
                    on_event(SpeechAudio(samples))
                case Ended(sample):
                    on_event(SpeechEnded(began + sample / SAMPLE_RATE))


class Listening:
    """Joins one source, one client and one writer, and who acts on what is said, if anybody does."""

    def __init__(self, endpoint: Endpoint | EndpointSource, writer: Writer, acting: Acting | None = None) -> None:
        self._writer = writer
        self._acting = acting
        self._source: Source | None = None
        self._utterances = Utterances(writer.show)
        self._client = RealtimeClient(endpoint, self._heard)
        self._stop = asyncio.Event()
        self._refused: RealtimeError | None = None
        self._began = time.time()
        self._turn: int | None = None
        self._end = 0.0
        self._behind = 0

    async def run(self, source: Source) -> bool:
        """Listen until the source ends or Ctrl+C; whether the text of everything has come.

        Raises RealtimeError when the server cannot be used, AudioError when the source cannot.
        """
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stop.set)
        loop.add_signal_handler(signal.SIGTERM, self._stop.set)
        self._source = source
        if self._acting is not None:
            words, sentences = self._acting.expected
            self._client.expect_words(words)
            self._client.weigh_texts(True, sentences)
            self._acting.start()
        self._client.start()
        try:
            await source.run(self._spoken, self._stop)
            loop.remove_signal_handler(signal.SIGINT)
            complete = await self._last_words()
        finally:
            await self._client.close()
            if self._acting is not None:
                await self._acting.close()
        if self._refused is not None:
            raise self._refused
        return complete

    async def _last_words(self) -> bool:
        if self._refused is not None:
            return False
        complete = await self._client.finished(_LAST_WORDS_S)
        if not complete:
            reason = self._client.connection.detail or "The server did not finish in time."
            self._writer.show(Report("error", f"The last words are missing. {reason}", 0.0, 0.0, code="incomplete"))
        return complete

    def _spoken(self, event: ListenerEvent) -> None:
        match event:
            case SpeechStarted(at):
                self._turn = self._client.begin()
                self._end = at - self._began
                self._utterances.begin(self._turn, self._end)
                if self._acting is not None:
                    self._acting.begin(self._turn)
            case SpeechAudio(samples) if self._turn is not None:
                self._end += len(samples) / SAMPLE_RATE
                self._utterances.heard_until(self._turn, self._end)
                self._client.append(self._turn, samples)
            case SpeechEnded() if self._turn is not None:
                turn, self._turn = self._turn, None
                self._client.end(turn)
            case SpeechMissed(seconds):
                lost = f"{seconds:.1f} s of speech were not heard."
                self._writer.show(Report("error", lost, 0.0, 0.0, code="not_heard"))
            case MicrophoneChanged(state, name, detail):
                self._microphone(state, name, detail)

    def _microphone(self, state: MicrophoneState, name: str, detail: str) -> None:
        if state.is_without:
            self._writer.show(Report("error", detail, 0.0, 0.0, code=f"microphone_{state.value}"))
        elif state is MicrophoneState.READY and self._turn is None:
            self._writer.remark(f"Listening with {name}. {detail}".rstrip())
        elif state in _MICROPHONE_REMARKS:
            self._writer.remark(_MICROPHONE_REMARKS[state])

    def _heard(self, event: RealtimeEvent) -> None:
        match event:
            case Connection(state, detail=detail, code=code):
                self._server(state, detail, code)
            case Behind(ms):
                # It is told again while it grows; here once is enough until it has been caught up.
                if ms and not self._behind:
                    self._writer.remark("The server is more than a second behind; what was said waits for it.")
                self._behind = ms
            case TurnDone(turn):
                start, end = self._utterances.times(turn)
                self._utterances.apply(event)
                if self._acting is not None:
                    self._acting.submit(event, start, end)
            case TurnStable(turn) | TurnTentative(turn):
                self._utterances.apply(event)
                self._expedite(turn)
            case _:
                self._utterances.apply(event)

    def _expedite(self, turn: int) -> None:
        """Act on a whole command without a long silence after it."""
        if self._acting is None or self._source is None or turn != self._turn:
            return
        if self._acting.is_complete(self._utterances.text(turn)):
            self._source.expedite()

    def _server(self, state: ServerState, detail: str, code: str) -> None:
        if state is ServerState.REFUSED:
            self._refused = RealtimeError(code, detail, lasting=True)
            self._stop.set()
        elif state is ServerState.READY and detail:
            self._writer.remark(f"Connected. {detail}")
        elif state is ServerState.LOST:
            self._writer.show(Report("error", detail, 0.0, 0.0, code=code))


async def _is_set(event: asyncio.Event, timeout_s: float) -> bool:
    """Wait for the event, but not longer; other tasks run at least once."""
    if timeout_s <= 0.0:
        await asyncio.sleep(0)
        return event.is_set()
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
