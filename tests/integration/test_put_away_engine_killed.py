"""The engine is killed while sessions are parked, hibernated and dropped: their next words come, and no file stays."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from running_server import server
from served_days import Keeper, files_below, private_cache
from session_callers import REPLY_S, Caller, fresh_text
from speech import pcm16
from tiny_voxtral import build, warbling

from sayso.server.config import ServerConfig
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

TIERS = ("host", "disk", "dropped")
BEFORE_S, AFTER_S = 0.4, 2.0
"""Before is shorter than the model's delay, so that no text is out: joining what follows needs sensible words."""


async def test_nothing_is_lost_or_doubled_and_no_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hibernated = private_cache(tmp_path / "cache", monkeypatch.setenv)
    config = ServerConfig(port=0, model=str(build(tmp_path / "tiny")), threads=1)
    halves = {
        tier: (pcm16(warbling(BEFORE_S, seed)), pcm16(warbling(AFTER_S, 10 + seed))) for seed, tier in enumerate(TIERS)
    }

    async with server(engine_settings(config), config, once_ready=False) as url:
        keeper = Keeper(url)
        pid = await keeper.until_engine("ready")
        expected = {tier: await fresh_text(url, first + second, "tiny") for tier, (first, second) in halves.items()}
        callers = {tier: Caller(url, "tiny") for tier in TIERS}
        for tier, caller in callers.items():
            await caller.connect()
            await caller.start()
            await caller.speak(halves[tier][0])
        for tier, caller in callers.items():
            await put_away(keeper, caller.session, tier)
        assert len(files_below(hibernated)) == 1
        os.kill(pid, signal.SIGKILL)
        texts = {}
        for tier, caller in callers.items():
            await caller.speak(halves[tier][1])
            texts[tier] = await caller.end()
            await caller.leave()
        assert texts == expected
        assert await keeper.until_engine("ready") != pid
        assert not files_below(hibernated)
        await keeper.close()


async def put_away(keeper: Keeper, session: str, tier: str) -> None:
    """Ask until it is there: a session that still has work refuses."""
    async with asyncio.timeout(REPLY_S):
        while True:
            rows = await keeper.sessions()
            (row,) = [row for row in rows if row["id"] == session]
            if row["tier"] == tier:
                return
            if row["tier"] == "device":
                await keeper.park(session, tier)
            await asyncio.sleep(0.2)
