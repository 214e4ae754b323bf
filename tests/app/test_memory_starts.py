"""How long coming back took: measured once for each process, remembered, and forgotten with another model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.app.memory_starts import Starts
from sayso.app.memory_view import StartTimes
from sayso.app.server_reports import EngineHealth
from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore


class Made:
    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.local = SimpleNamespace(pid=7, started_at=97.5)
        self.store = SettingsStore(Loaded(Settings()), folder)
        local: Any = self.local
        self.starts = Starts(self.store, local, lambda: self.now)


@pytest.fixture
async def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


async def test_a_process_is_measured_from_its_start_to_the_first_ready_and_not_again(made: Made) -> None:
    made.starts.ready()
    assert made.starts.times.everything_ms == 2500
    made.now = 500.0
    made.starts.ready()
    assert made.starts.times.everything_ms == 2500
    made.local.pid, made.local.started_at = 8, 499.0
    made.starts.ready()
    assert made.starts.times.everything_ms == 1000


async def test_without_a_server_nothing_is_measured(made: Made) -> None:
    made.local.pid = None
    made.starts.ready()
    assert made.starts.times == StartTimes()


async def test_what_the_server_measured_is_kept_and_what_it_did_not_stays(made: Made, tmp_path: Path) -> None:
    made.starts.ready()
    made.starts.learn(EngineHealth(model="tiny.en", start_ms=2000))
    made.starts.learn(EngineHealth(model="tiny.en", reload_ms=800))
    assert made.starts.times == StartTimes("tiny.en", 800, 2000, 2500)
    await made.store.written()
    assert load(tmp_path).settings.starts == made.starts.times


async def test_the_figures_of_another_model_are_forgotten(made: Made) -> None:
    made.starts.ready()
    made.starts.learn(EngineHealth(model="tiny.en", start_ms=2000, reload_ms=800))
    made.starts.learn(EngineHealth(model="base.en", start_ms=3000))
    assert made.starts.times == StartTimes("base.en", 0, 3000, 0)


async def test_an_engine_that_has_loaded_nothing_yet_changes_nothing(made: Made) -> None:
    made.starts.learn(EngineHealth())
    assert made.starts.times == StartTimes()
