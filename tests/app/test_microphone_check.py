"""The states of a microphone check, and that speech goes nowhere while it runs; the sound itself is scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayso.app import microphone_check
from sayso.app.audio.errors import AudioError
from sayso.app.audio.level import Level
from sayso.app.audio.listener import ListenerEvent, SpeechEnded, SpeechStarted
from sayso.app.audio.muffler import Muffler
from sayso.app.audio.sound_check import Recording
from sayso.app.microphone_check import MicrophoneCheck
from sayso.app.microphone_check_view import CheckState
from sayso.app.settings import Loaded, Settings
from sayso.app.settings_store import SettingsStore

RECORDING = Recording("Headset", np.zeros(48_000, np.float32), 16_000, -12.0, False, False)


class Scripted:
    """A check whose recording and playing end when the test says so."""

    def __init__(self, folder: Path) -> None:
        self.recorded, self.played = asyncio.Event(), asyncio.Event()
        self.fault: AudioError | None = None
        self.wanted: str | None = None
        self.heard: list[ListenerEvent] = []
        self.states: list[CheckState] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._moved = asyncio.Event()
        self.muffler = Muffler(self.heard.append)
        store = SettingsStore(Loaded(Settings(microphone="desk")), folder)
        sound: Any = None
        self.check = MicrophoneCheck(store, sound, self.muffler, self._changed, self._spawn)

    async def record(
        self, sound: object, wanted: str, seconds: float, on_level: Callable[[Level], None], on_open: Callable[[], None]
    ) -> Recording:
        self.wanted = wanted
        on_open()
        on_level(Level(-20.0, True))
        await self.recorded.wait()
        if self.fault is not None:
            raise self.fault
        return RECORDING

    async def play(self, sound: object, recording: Recording) -> None:
        assert recording is RECORDING
        await self.played.wait()

    async def until(self, state: CheckState) -> None:
        async with asyncio.timeout(15):
            while self.check.view.state is not state:
                self._moved.clear()
                await self._moved.wait()

    async def ended(self) -> None:
        async with asyncio.timeout(15):
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _changed(self) -> None:
        self.states.append(self.check.view.state)
        self._moved.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    def cancel_all(self) -> None:
        for task in self._tasks:
            task.cancel()


@pytest.fixture
async def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scripted]:
    made = Scripted(tmp_path)
    monkeypatch.setattr(microphone_check, "record", made.record)
    monkeypatch.setattr(microphone_check, "play", made.play)
    monkeypatch.setattr(microphone_check, "_ECHO_S", 0.0)
    yield made
    made.cancel_all()
    await made.ended()


async def test_it_records_the_chosen_microphone_plays_it_back_and_says_how_it_was(scripted: Scripted) -> None:
    scripted.check.start_check()
    await scripted.until(CheckState.RECORDING)
    assert scripted.wanted == "desk"
    assert (scripted.check.view.level_db, scripted.check.view.clipping) == (-20.0, True)
    scripted.recorded.set()
    await scripted.until(CheckState.PLAYING)
    scripted.played.set()
    await scripted.until(CheckState.DONE)
    assert "good" in scripted.check.view.detail
    assert list(dict.fromkeys(scripted.states)) == [
        CheckState.OPENING,
        CheckState.RECORDING,
        CheckState.PLAYING,
        CheckState.DONE,
    ]


async def test_what_is_said_meanwhile_goes_nowhere_and_what_comes_after_is_heard(scripted: Scripted) -> None:
    scripted.check.start_check()
    await scripted.until(CheckState.RECORDING)
    scripted.muffler(SpeechStarted(1.0))
    scripted.muffler(SpeechEnded(2.0))
    scripted.recorded.set()
    scripted.played.set()
    await scripted.until(CheckState.DONE)
    await scripted.ended()
    assert scripted.heard == []
    scripted.muffler(SpeechStarted(3.0))
    assert scripted.heard == [SpeechStarted(3.0)]


async def test_a_fault_is_told_and_the_next_check_runs(scripted: Scripted) -> None:
    scripted.fault = AudioError("microphone_busy", "It is in use.")
    scripted.recorded.set()
    scripted.check.start_check()
    await scripted.until(CheckState.FAILED)
    assert scripted.check.view.detail == "It is in use."
    await scripted.ended()
    scripted.fault = None
    scripted.check.start_check()
    await scripted.until(CheckState.PLAYING)


async def test_a_check_that_is_stopped_leaves_nothing_behind(scripted: Scripted) -> None:
    scripted.check.start_check()
    scripted.check.start_check()
    await scripted.until(CheckState.RECORDING)
    scripted.check.stop_check()
    await scripted.until(CheckState.IDLE)
    await scripted.ended()
    scripted.muffler(SpeechStarted(1.0))
    assert scripted.heard == [SpeechStarted(1.0)]
    scripted.check.stop_check()


async def test_it_ends_with_sayso(scripted: Scripted) -> None:
    scripted.check.start_check()
    await scripted.until(CheckState.RECORDING)
    scripted.cancel_all()
    await scripted.ended()
    assert scripted.check.view.state is CheckState.IDLE
