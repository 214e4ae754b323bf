"""Two desktops on one server: each is heard, each sees both, and neither loses a word by what the other gives back.

Real server, real engine, and of each desktop all that its memory page ties together.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import psutil
import pytest
from memory_desktop import Desktop, started
from numpy.typing import NDArray
from running_server import server
from served_days import Keeper
from session_callers import REPLY_S
from speech import recording

from sayso.app.memory_policy import PRESETS, Preset
from sayso.app.memory_view import Freeing, Source
from sayso.app.settings import Settings
from sayso.app.snapshot import ServerKind
from sayso.server.config import ServerConfig
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

RATE = 16_000
WORDS = recording("beckett")[: 2 * RATE]


async def say(here: Desktop, *parts: NDArray[np.float32]) -> str:
    """One utterance; its text."""
    before = len(here.texts)
    turn = here.client.begin()
    for part in parts:
        here.client.append(turn, part)
    here.client.end(turn)
    await here.until(lambda: len(here.texts) > before, REPLY_S)
    return here.texts[-1]


async def test_each_is_heard_sees_both_and_loses_no_word_by_what_the_other_gives_back(tmp_path: Path) -> None:
    config = ServerConfig(port=0, threads=1)
    async with server(engine_settings(config), config) as url, AsyncExitStack() as stack:
        keeper = Keeper(url)
        settings = Settings(server=ServerKind.REMOTE, remote_url=url, memory=PRESETS[Preset.KEEP_READY])
        one, two = [
            await stack.enter_async_context(started(Desktop(tmp_path / name, settings))) for name in ("one", "two")
        ]
        for here in (one, two):
            await here.ready(REPLY_S)
            here.panel.watch(True)
        for here in (one, two):
            await here.until(lambda here=here: len(here.view.sessions) == 2)
            assert here.view.source is Source.REMOTE
        own = [[row.id for row in here.view.sessions if row.own] for here in (one, two)]
        assert own == [[one.client.session_id], [two.client.session_id]]
        assert own[0] != own[1]

        expected = await say(one, WORDS)
        assert expected.split()[:2] == ["Ever", "tried."]
        first = await keeper.until_engine("ready")
        turn = one.client.begin()
        one.client.append(turn, WORDS[:RATE])
        await one.until(lambda: any(row.state == "streaming" for row in one.view.sessions))
        two.panel.free_now()
        await two.until(lambda: two.view.freeing is Freeing.WAITING)
        one.client.append(turn, WORDS[RATE:])
        one.client.end(turn)
        await one.until(lambda: len(one.texts) == 2, REPLY_S)
        await two.until(lambda: two.view.freeing is Freeing.DONE, REPLY_S)
        assert one.texts[-1] == expected
        # Its memory is back by then; that its parent has buried it comes a moment later.
        await two.until(lambda: not psutil.pid_exists(first), REPLY_S)
        await one.until(lambda: one.view.engine == "idle")

        assert await say(two, WORDS) == expected
        one.panel.set_control("close_after_s", 0.1)
        await one.until(lambda: one.client.is_resting)
        await two.until(lambda: [row.own for row in two.view.sessions] == [True])
        assert await say(two, WORDS) == expected
        assert await say(one, WORDS) == expected
        counts = await keeper.counts()
        assert (counts["sayso_engine_ends_total"], counts["sayso_engine_restarts_total"]) == (1, 0)
        assert one.faults == two.faults == []
        await keeper.close()
