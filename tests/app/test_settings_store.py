import asyncio
from pathlib import Path

from sayso.app.settings import Loaded, Settings, load
from sayso.app.settings_store import SettingsStore
from sayso.app.snapshot import Mode, ServerKind


async def test_the_file_holds_the_latest_of_many_changes(tmp_path: Path) -> None:
    store = SettingsStore(Loaded(Settings()), tmp_path)
    for number in range(20):
        store.change(remote_url=f"ws://host:{number}/v1/realtime")
        await asyncio.sleep(0)
    store.change(mode=Mode.DICTATION, server=ServerKind.REMOTE)
    await asyncio.wait_for(store.written(), 10)
    assert load(tmp_path).settings == store.settings
    assert store.settings.remote_url == "ws://host:19/v1/realtime"


async def test_a_change_to_the_same_value_writes_nothing(tmp_path: Path) -> None:
    store = SettingsStore(Loaded(Settings()), tmp_path)
    store.change(mode=Mode.COMMANDS)
    await asyncio.wait_for(store.written(), 10)
    assert list(tmp_path.iterdir()) == []


async def test_settings_that_cannot_be_written_are_in_force_all_the_same_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SettingsStore(Loaded(Settings()), tmp_path / "file")
    told: list[str] = []
    store.on_fault = told.append
    store.change(mode=Mode.DICTATION)
    await asyncio.wait_for(store.written(), 10)
    assert store.settings.mode is Mode.DICTATION
    assert "cannot be written" in told[0]
    assert "until Sayso ends" in told[0]
