"""Which server is used, with which model; the connection and the local server are recorded ones."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.app.realtime.client import EndpointSource
from sayso.app.realtime.errors import RealtimeError
from sayso.app.server_choice import ServerChoice
from sayso.app.settings import KeyStore, Settings
from sayso.app.snapshot import ServerKind

CHOSEN = Settings(server=ServerKind.REMOTE, remote_url="ws://one:1/v1/realtime", remote_model="large")

pytestmark = pytest.mark.usefixtures("no_keyring")


class Switched:
    def __init__(self) -> None:
        self.source: EndpointSource | None = None

    async def switch(self, source: EndpointSource) -> None:
        self.source = source


def made(folder: Path) -> tuple[ServerChoice, Switched]:
    client: Any = Switched()
    local: Any = SimpleNamespace(pid=None, spawn=lambda: None, endpoint=None)
    return ServerChoice(client, local, KeyStore(folder), CHOSEN), client


async def asked_model(client: Switched) -> str:
    assert client.source is not None
    return (await client.source()).model


async def test_the_chosen_model_is_asked_of_its_server_and_of_no_other(tmp_path: Path) -> None:
    choice, client = made(tmp_path)
    await choice.begin()
    assert await asked_model(client) == "large"
    await choice.use_embedded()
    await choice.use_remote("one:1", "")
    assert await asked_model(client) == "large"
    await choice.use_remote("two:2", "")
    assert await asked_model(client) == ""
    await choice.use_remote("two:2", "", "small")
    assert (await asked_model(client), choice.model) == ("small", "small")
    await choice.use_remote("two:2", "", "")
    assert await asked_model(client) == ""


async def test_a_wrong_address_changes_nothing(tmp_path: Path) -> None:
    choice, client = made(tmp_path)
    with pytest.raises(RealtimeError):
        await choice.use_remote("two words", "", "small")
    assert client.source is None
    assert (choice.model, choice.view.url) == ("large", CHOSEN.remote_url)


async def test_a_key_is_kept_for_its_server(tmp_path: Path) -> None:
    choice, client = made(tmp_path)
    warning = await choice.use_remote("two:2", "secret")
    assert "keys.json" in warning
    assert client.source is not None
    assert (await client.source()).key == "secret"
