"""The page of servers tries real ones, finds keys, and never changes which server is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from played_vllm import vllm_server

from sayso.app import remote_servers
from sayso.app.errors import AppError
from sayso.app.realtime import trial
from sayso.app.realtime.endpoint import parse
from sayso.app.remote_server_view import Finding, KeyPlace
from sayso.app.remote_servers import RemoteServers
from sayso.app.settings import KeyStore, Loaded, Settings
from sayso.app.settings_store import SettingsStore

CHOSEN = Settings(remote_url="ws://chosen:1/v1/realtime", remote_model="tiny")

pytestmark = pytest.mark.usefixtures("no_keyring")


class Page:
    """The page's part of the app, with keys in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.store = SettingsStore(Loaded(CHOSEN), folder)
        self.keys = KeyStore(folder)
        self.faults: list[str] = []
        self._moved = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.servers = RemoteServers(self.store, self.keys, self._moved.set, self.spawn)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except AppError as error:
                self.faults.append(error.code)

        self._tasks.append(asyncio.create_task(guarded()))

    async def settle(self) -> None:
        async with asyncio.timeout(30):
            await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Page]:
    monkeypatch.setattr(trial, "_OBJECTION_S", 0.1)
    made = Page(tmp_path)
    yield made
    await made.close()


async def test_a_server_is_tried_with_the_key_that_is_saved_for_it_and_nothing_else_changes(page: Page) -> None:
    async with vllm_server(key="secret") as played:
        page.keys.set(parse(played.url), "secret")
        page.servers.try_server(played.url.removesuffix("/v1/realtime"), "", "")
        assert page.servers.view.trying
        assert page.servers.view.tried_url == played.url
        await page.settle()
    finding = page.servers.view.finding
    assert not page.servers.view.trying
    assert finding is not None
    assert finding.works
    assert finding.models == ("tiny",)
    assert page.store.settings == CHOSEN


async def test_a_key_that_was_typed_is_tried_and_not_kept(page: Page) -> None:
    async with vllm_server(key="secret") as played:
        page.keys.set(parse(played.url), "secret")
        page.servers.try_server(played.url, "other", "")
        await page.settle()
        finding = page.servers.view.finding
        assert finding is not None
        assert finding.code == "key_wrong"
        assert page.keys.get(played.url) == "secret"


async def test_what_is_no_address_is_told_without_asking_anybody(page: Page) -> None:
    page.servers.try_server("two words", "", "")
    finding = page.servers.view.finding
    assert not page.servers.view.trying
    assert finding is not None
    assert finding.code == "bad_url"


async def test_a_trial_that_is_stopped_in_the_moment_of_its_end_has_found_nothing(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(endpoint: object) -> Finding:
        await asyncio.sleep(0)
        # Somebody waits for the finding now, and goes on after this.
        asyncio.get_running_loop().call_soon(page.servers.stop_trial)
        return Finding(True, "works", "It works")

    monkeypatch.setattr(remote_servers, "try_server", found)
    page.servers.try_server("host:1", "key", "")
    await page.settle()
    assert (page.servers.view.trying, page.servers.view.finding) == (False, None)


async def test_a_trial_that_is_stopped_has_found_nothing_and_a_new_one_takes_its_place(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that is not ended goes on for longer than this test may last.
    monkeypatch.setattr(trial, "_OPEN_S", 3600.0)

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(silence, "127.0.0.1", 0)
    async with listening, vllm_server() as played:
        address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        page.servers.try_server(address, "", "")
        page.servers.stop_trial()
        await page.settle()
        assert (page.servers.view.trying, page.servers.view.finding) == (False, None)
        page.servers.try_server(address, "", "")
        page.servers.try_server(played.url, "", "")
        await page.settle()
    finding = page.servers.view.finding
    assert page.servers.view.tried_url == played.url
    assert finding is not None
    assert finding.works


async def test_a_key_is_found_and_removed(page: Page) -> None:
    page.keys.set("ws://host:1/v1/realtime", "secret")
    page.servers.look_for_key("host:1")
    await page.settle()
    assert (page.servers.view.key_url, page.servers.view.key_place) == ("ws://host:1/v1/realtime", KeyPlace.FILE)
    page.servers.remove_key("host:1")
    await page.settle()
    assert page.servers.view.key_place is KeyPlace.NONE
    assert page.keys.get("ws://host:1/v1/realtime") == ""
    page.servers.look_for_key("no address")
    page.servers.remove_key("no address")
    await page.settle()
    assert page.faults == ["bad_url"]


async def test_the_server_of_the_settings_is_shown_whichever_is_in_use(page: Page) -> None:
    assert (page.servers.view.url, page.servers.view.model) == (CHOSEN.remote_url, CHOSEN.remote_model)
