"""What the settings window changes is in force at once and in the file; the microphone is a recorded one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.app.audio.errors import AudioError
from sayso.app.options import Options
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import MicrophoneChoice


class Recorded:
    """A listener that only writes down what it was asked."""

    def __init__(self) -> None:
        self.is_running = True
        self.asked: list[tuple[object, ...]] = []

    async def start(self, name: str) -> None:
        self.asked.append(("start", name))

    def set_wait_ms(self, wait_ms: int) -> None:
        self.asked.append(("wait", wait_ms))

    async def microphones(self) -> list[SimpleNamespace]:
        if not self.is_running:
            raise AudioError("sound_system_failed", "The sound system reports a fault.")
        return [SimpleNamespace(name="usb", label="USB headset")]


class Made:
    def __init__(self, folder: Path) -> None:
        self.listener = Recorded()
        self.store = SettingsStore(Loaded(Settings()), folder)
        self.changes = 0
        self.tasks: list[asyncio.Task[None]] = []
        listener: Any = self.listener
        self.options = Options(self.store, listener, self.changed, self.spawn)

    def changed(self) -> None:
        self.changes += 1

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def settle(self) -> None:
        await asyncio.wait_for(asyncio.gather(*self.tasks), 10)
        await asyncio.wait_for(self.store.written(), 10)


@pytest.fixture
async def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


async def test_a_chosen_microphone_is_listened_to_at_once(made: Made, tmp_path: Path) -> None:
    made.options.use_microphone("usb")
    await made.settle()
    assert made.listener.asked == [("start", "usb")]
    assert made.options.view.microphone == "usb"
    assert load(tmp_path).settings.microphone == "usb"
    assert made.changes == 1


async def test_a_closed_microphone_stays_closed_when_another_is_chosen(made: Made) -> None:
    made.listener.is_running = False
    made.options.use_microphone("usb")
    await made.settle()
    assert made.listener.asked == []


async def test_the_pause_is_in_force_at_once(made: Made, tmp_path: Path) -> None:
    made.options.set_wait_ms(900)
    await made.settle()
    assert made.listener.asked == [("wait", 900)]
    assert made.options.view.wait_ms == 900
    assert load(tmp_path).settings.wait_ms == 900


async def test_whether_it_listens_at_start_is_kept(made: Made, tmp_path: Path) -> None:
    made.options.set_listens_at_start(False)
    await made.settle()
    assert not made.options.view.listens_at_start
    assert not load(tmp_path).settings.listens_at_start


async def test_microphones_are_told_when_they_change_and_not_each_time(made: Made) -> None:
    for _ in range(2):
        made.options.look_for_microphones()
        await made.settle()
    assert made.options.view.microphones == (MicrophoneChoice("usb", "USB headset"),)
    assert made.changes == 1


async def test_where_none_can_be_listed_there_is_none_to_choose(made: Made) -> None:
    made.options.look_for_microphones()
    await made.settle()
    made.listener.is_running = False
    made.options.look_for_microphones()
    await made.settle()
    assert made.options.view.microphones == ()
