"""A session that is to hibernate while the disk is full or has no place for it: real server, engine and refusal."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from running_server import server
from served_days import Keeper, files_below, private_cache
from session_callers import Caller, fresh_text
from speech import pcm16
from tiny_voxtral import build, warbling

from sayso.server.config import ServerConfig
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

LARGEST_FILE = 4_096
"""Of the engine from then on: the system refuses what is beyond, as a full disk does."""
FIRST, THEN = pcm16(warbling(1.5, 1)), pcm16(warbling(1.5, 2))


def refuse(how: str, hibernated: Path, engine: int) -> None:
    if how == "full":
        resource.prlimit(engine, resource.RLIMIT_FSIZE, (LARGEST_FILE, resource.RLIM_INFINITY))
    else:
        hibernated.write_text("not a folder")


@pytest.mark.parametrize("how", ["full", pytest.param("no folder", marks=pytest.mark.soak)])
async def test_it_is_computed_again_instead_and_no_word_is_lost(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hibernated = private_cache(tmp_path / "cache", monkeypatch.setenv)
    config = ServerConfig(port=0, model=str(build(tmp_path / "tiny")), threads=1)
    async with server(engine_settings(config), config, once_ready=False) as url:
        keeper, caller = Keeper(url), Caller(url, "tiny")
        engine = await keeper.until_engine("ready")
        expected = await fresh_text(url, FIRST + THEN, "tiny")
        await caller.connect()
        await caller.start()
        await caller.speak(FIRST)
        await keeper.until_sessions(lambda rows: [row["engine_state"] for row in rows] == ["waiting"])
        refuse(how, hibernated, engine)
        await keeper.limit(hibernate_after_s=0.1)
        (row,) = await keeper.until_sessions(lambda rows: rows[0]["tier"] == "dropped")
        assert (row["bytes"]["kv"], row["bytes"]["kv_host"], row["bytes"]["kv_disk"]) == (0, 0, 0)
        assert not files_below(hibernated)
        await caller.speak(THEN)
        assert await caller.end() == expected
        assert (await keeper.counts())['sayso_park_failures_total{code="hibernation_failed"}'] == 1
        assert await keeper.until_engine("ready") == engine
        await caller.leave()
        await keeper.close()
    assert not files_below(hibernated)
