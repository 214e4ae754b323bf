"""Hours of use of the desktop that pass as fast as it can work: `python tests/simulated_hours.py SCHEDULE TEXTS`.

All of the desktop is real, its windows and what it does too, but for the microphone, whose sound comes as soon as it is
read, and the recogniser, which says the lines of TEXTS. SCHEDULE is seconds between utterances, one number for each
hour; after each hour a line of JSON tells what the process then holds. Every change is shown, without a pause.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import psutil
import soundfile
import soxr
from served_days import own_mb
from speech import say_to_file

from sayso.app import __main__ as desktop
from sayso.app import composition, settings, single_instance
from sayso.app.assistant import Assistant
from sayso.app.audio import listener
from sayso.app.audio.devices import Device
from sayso.app.audio.pipeline import Samples
from sayso.app.local_server import LocalServer
from sayso.app.snapshot import FeedState, LineKind, Snapshot

RATE = 48_000
BLOCK_S = 0.1
HOUR_S = 3600.0
SETTLED_S = 60.0
"""Bound of the wait for the last words and deeds of an hour."""
OVERLAY_S = 3.0
"""Until the overlay has gone by itself."""
SERVER = Path(__file__).parent / "scripted_server.py"
MICROPHONE = Device("room", "A room whose hours fly", RATE, 1, True, 0, "room")


def room(schedule: Sequence[float], on_hour: Callable[[int], None]) -> Iterator[Samples]:
    """Blocks of a lively quiet room in which somebody speaks now and then."""
    size, clip = int(RATE * BLOCK_S), spoken()
    random = np.random.default_rng(0)
    hiss, level_db = random.normal(0, 1, (64, size)).astype(np.float32), -60.0
    for hour, every_s in enumerate(schedule):
        until_speech_s = every_s
        for _ in range(round(HOUR_S / BLOCK_S)):
            until_speech_s -= BLOCK_S
            if until_speech_s <= 0.0:
                yield from clip
                until_speech_s = every_s
            # As slow as doors, cars and rain are: a sudden noise might be a voice, which takes time to tell.
            level_db += random.normal(0.0, 0.3) - 0.005 * (level_db + 60.0)
            yield hiss[random.integers(64)][:, None] * 10 ** (level_db / 20)
        on_hour(hour)


def spoken() -> list[Samples]:
    """A short sentence in blocks, and the second of silence that ends it."""
    samples, rate = soundfile.read(say_to_file("open the old garden"), dtype="float32")
    whole = soxr.resample(samples, rate, RATE)
    size = int(RATE * BLOCK_S)
    whole = np.concatenate((whole, np.zeros(size - len(whole) % size + 10 * size, np.float32)))
    return list(whole.reshape(-1, size, 1))


class Stream:
    """A microphone that has the next block as soon as the event loop has had its turn for the one before."""

    has_ended = is_gone = False
    fault = None

    def __init__(self, blocks: Iterator[Samples], loop: asyncio.AbstractEventLoop) -> None:
        self.device = MICROPHONE
        self._blocks = blocks
        self._loop = loop

    def listen(self, on_block: Callable[[Samples], bool], on_end: Callable[[], None]) -> None:
        threading.Thread(target=self._play, args=(on_block, on_end), name="room", daemon=True).start()

    def finish(self) -> None:
        self.has_ended = True

    def close(self) -> None:
        self.finish()

    def _play(self, on_block: Callable[[Samples], bool], on_end: Callable[[], None]) -> None:
        for block in self._blocks:
            if self.has_ended:
                break
            on_block(block)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result()
        on_end()


class Book:
    """Writes down what the process holds after each hour, once it has nothing left to do."""

    def __init__(self, hours: int) -> None:
        self._hours = hours
        self._quiet = asyncio.Event()
        self.assistant: Assistant
        self.loop: asyncio.AbstractEventLoop
        self.shown: Snapshot

    def take(self, snapshot: Snapshot) -> None:
        self.shown = snapshot
        if self._busy():
            self._quiet.clear()
        else:
            self._quiet.set()

    def hour(self, number: int) -> None:
        """On the room's thread: waits until the hour is written down."""
        asyncio.run_coroutine_threadsafe(self._write(number), self.loop).result()

    async def _write(self, number: int) -> None:
        async with asyncio.timeout(SETTLED_S):
            await self._quiet.wait()
        await asyncio.sleep(OVERLAY_S)
        gc.collect()
        process = psutil.Process()
        from PySide6.QtWidgets import QApplication

        told = {
            "hour": number + 1,
            "own_mb": round(own_mb(process.pid), 1),
            "objects": len(gc.get_objects()),
            "widgets": len(QApplication.allWidgets()),
            "threads": process.num_threads(),
            "files": process.num_fds(),
            "lines": len(self.shown.lines),
            "last_line": self.shown.lines[-1].id if self.shown.lines else 0,
            "actions": len(self.shown.feed),
            "done": sum(item.state is FeedState.DONE for item in self.shown.feed),
        }
        print(json.dumps(told), flush=True)
        if number + 1 == self._hours:
            self.assistant.quit()

    def _busy(self) -> bool:
        return any(line.kind is LineKind.OPEN for line in self.shown.lines) or any(
            item.state in (FeedState.HEARD, FeedState.RUNNING) for item in self.shown.feed
        )


def stage(schedule: Sequence[float]) -> None:
    """Put the room in the place of the microphone, and a book beside the assistant."""
    book = Book(len(schedule))
    blocks = room(schedule, book.hour)
    listener.list_devices = lambda: [MICROPHONE]
    listener.open_stream = lambda device: Stream(blocks, book.loop)  # type: ignore[assignment,return-value]
    compose = composition.compose

    def compose_with_book(publish: Callable[[Snapshot], None], *rest: Any) -> Assistant:
        def published(snapshot: Snapshot) -> None:
            book.take(snapshot)
            publish(snapshot)

        book.loop = asyncio.get_running_loop()
        book.assistant = compose(published, *rest)
        return book.assistant

    composition.compose = compose_with_book


def main() -> None:
    schedule = [float(each) for each in sys.argv[1].split(",")]
    stage(schedule)
    from sayso.ui import publisher

    publisher.Publisher = functools.partial(publisher.Publisher, interval_s=0.0)  # type: ignore[misc,assignment]
    environment = dict(os.environ)
    local = LocalServer(command=[sys.executable, str(SERVER), "--says", sys.argv[2]])
    instance = single_instance.claim_or_show(single_instance.folder(environment))
    assert instance is not None
    with instance:
        try:
            desktop._run(settings.load(), local, environment, instance)
        finally:
            asyncio.run(local.close())


if __name__ == "__main__":
    main()
