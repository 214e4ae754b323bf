"""A connection is asked whether it lives, and one that does not is given up at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from sayso.app.realtime import proof
from sayso.app.realtime.proof import Proof


class Socket:
    def __init__(self, *, lives: bool) -> None:
        self.lives = lives
        self.pings = 0
        self.pinged = asyncio.Event()

    async def ping(self) -> Awaitable[float]:
        self.pings += 1
        self.pinged.set()
        answer = asyncio.get_running_loop().create_future()
        if self.lives:
            answer.set_result(0.0)
        return answer


async def test_a_connection_that_lives_goes_on_and_is_asked_only_when_there_is_doubt() -> None:
    doubt, socket = Proof(), Socket(lives=True)
    doubt.ask()
    giving = asyncio.create_task(doubt.given(socket))
    await asyncio.sleep(0)
    assert socket.pings == 0, "what was asked about the connection before is over with it"
    doubt.ask()
    async with asyncio.timeout(15):
        await socket.pinged.wait()
    await asyncio.sleep(0)
    assert not giving.done()
    giving.cancel()


async def test_a_connection_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "_ANSWER_S", 0.01)
    doubt, socket = Proof(), Socket(lives=False)
    giving = asyncio.create_task(doubt.given(socket))
    await asyncio.sleep(0)
    doubt.ask()
    async with asyncio.timeout(15):
        with pytest.raises(TimeoutError):
            await giving
