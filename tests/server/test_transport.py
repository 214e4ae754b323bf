"""The realtime socket of a real server, with a scripted engine behind it."""

from __future__ import annotations

from running_server import client, server


async def test_a_turn_gives_deltas_and_a_done_with_their_text() -> None:
    async with server() as url, client(url) as c:
        await c.choose()
        assert await c.transcribe(1.25) == "w0 w1 w2"
        assert await c.transcribe(0.5) == "w0"
