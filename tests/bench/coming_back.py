"""How much later text comes when the engine had ended: `python tests/bench/coming_back.py [ROUNDS [THREADS]]`.

Client, local server and real engine without windows. The same words at their own pace, in turn with the engine ready
and with the engine, or the local server too, ended. Target: text at most the engine's start and 0.5 s later.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory_desktop import Desktop
from speech import say_to_file

from sayso.app.local_server import LocalServer
from sayso.app.memory_policy import PRESETS, Preset
from sayso.app.memory_view import Freeing
from sayso.app.settings import Settings

RATE = 16_000
PIECE = 800
WORDS = "volume up"
BOUND_S = 120.0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(BOUND_S):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)


async def until_text(here: Desktop, sound: NDArray[np.float32]) -> float:
    """Seconds from the end of speech to its text."""
    before, began = len(here.texts), time.monotonic()
    turn = here.client.begin()
    for start in range(0, len(sound), PIECE):
        here.client.append(turn, sound[start : start + PIECE])
        await asyncio.sleep(max(0.0, began + (start + PIECE) / RATE - time.monotonic()))
    here.client.end(turn)
    said = time.monotonic()
    await until(lambda: len(here.texts) > before)
    assert WORDS in here.texts[-1].lower(), here.texts[-1]
    return time.monotonic() - said


async def one_kind(preset: Preset, rounds: int, threads: int, sound: NDArray[np.float32]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Desktop(Path(folder), Settings(memory=PRESETS[preset]), local=LocalServer(threads=threads))
        await here.server.begin()
        try:
            await until_text(here, sound)
            over = [await one_round(here, sound, preset) for _ in range(rounds)]
        finally:
            await here.close()
    print(f"{preset}: later than the start took by {statistics.median(over):+.2f} s, at most {max(over):+.2f} s")


async def one_round(here: Desktop, sound: NDArray[np.float32], preset: Preset) -> float:
    ready_s = await until_text(here, sound)
    here.panel.free_now()
    await until(lambda: here.view.freeing is Freeing.DONE)
    ended_s = await until_text(here, sound)
    await until(lambda: not here.tasks)
    starts = here.view.starts
    start_s = (starts.everything_ms if here.view.controls.end_server else starts.ended_ms) / 1000
    print(f"{preset}: text {ready_s:.2f} s after speech, {ended_s:.2f} s from rest; the start took {start_s:.2f} s")
    return ended_s - ready_s - start_s


async def measure(rounds: int, threads: int) -> None:
    sound, rate = soundfile.read(say_to_file(WORDS), dtype="float32")
    assert rate == RATE
    for preset in (Preset.KEEP_READY, Preset.EVERYTHING_BACK):
        await one_kind(preset, rounds, threads, sound)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    asyncio.run(measure(given[0] if given else 3, given[1] if len(given) > 1 else 0))
