"""The local server is told of every choice, the latest wins, and one that comes up later gets it too.

The process that the desktop starts only says where a server of this test listens.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from running_server import eventually, server

from sayso.app.local_server import LocalServer
from sayso.app.memory_limits import LimitsKeeper
from sayso.app.server_reports import ReportError, ServerReports

POINTER = """
import json, sys
sys.stdin.readline()
print(json.dumps({"url": sys.argv[1]}), flush=True)
sys.stdin.read()
"""


class Kept:
    def __init__(self, url: str) -> None:
        self.local = LocalServer(command=[sys.executable, "-c", POINTER, url], limits={"drop_after_s": 1.0})
        self.faults: list[Exception] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.keeper = LimitsKeeper(self.local, self.spawn)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except ReportError as error:
                self.faults.append(error)

        task = asyncio.get_running_loop().create_task(guarded())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def in_force(self) -> float:
        endpoint = self.local.running
        assert endpoint is not None
        return (await ServerReports(endpoint).limits())["drop_after_s"]


@asynccontextmanager
async def kept() -> AsyncIterator[Kept]:
    async with server() as url:
        made = Kept(url)
        try:
            yield made
        finally:
            await made.local.close()


async def test_of_many_choices_in_a_row_the_last_is_in_force() -> None:
    async with kept() as made:
        await made.local.endpoint()
        for seconds in range(2, 30):
            made.keeper.want({"drop_after_s": float(seconds)})
        await eventually(lambda: not made.tasks)
        assert await made.in_force() == 29
        assert made.faults == []


async def test_what_is_chosen_while_the_server_comes_up_is_told_when_it_is_there() -> None:
    async with kept() as made:
        made.local.spawn()
        made.keeper.want({"drop_after_s": 5.0})
        await made.local.endpoint()
        made.keeper.tell()
        await eventually(lambda: not made.tasks)
        assert await made.in_force() == 5


async def test_what_is_chosen_without_a_server_is_what_the_next_one_is_started_with() -> None:
    async with kept() as made:
        made.keeper.want({"drop_after_s": 5.0})
        assert not made.tasks
        await made.local.endpoint()
        assert made.local.knows == {"drop_after_s": 5.0}
        made.keeper.tell()
        assert not made.tasks


@pytest.mark.parametrize("wrong", [{"drop_after_s": -1.0}, {"no_such_limit": 1.0}])
async def test_a_refusal_is_told_and_the_next_choice_is_tried(wrong: dict[str, float]) -> None:
    async with kept() as made:
        await made.local.endpoint()
        made.keeper.want(wrong)
        await eventually(lambda: not made.tasks)
        assert len(made.faults) == 1
        made.keeper.want({"drop_after_s": 8.0})
        await eventually(lambda: not made.tasks)
        assert await made.in_force() == 8
