"""What a short utterance may have been instead, through the real engine and the real server to the client."""

from __future__ import annotations

import asyncio

import pytest
from speech import say
from told_events import ToldEvents

from sayso.app.local_server import LocalServer
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.events import TurnDone, TurnStable


class Told(ToldEvents):
    def of(self, turn: int) -> TurnDone:
        """The end of the turn, whose stable text came in one piece or in more."""
        (done,) = (each for each in self.events if isinstance(each, TurnDone) and each.turn == turn)
        return done

    def pieces(self, turn: int) -> list[str]:
        return [each.text for each in self.events if isinstance(each, TurnStable) and each.turn == turn]


@pytest.mark.parametrize("voice", ["hibari", "american"])
async def test_a_client_that_weighs_texts_is_told_others_with_the_text_of_a_short_turn_as_a_whole(voice: str) -> None:
    local, told = LocalServer(threads=2), Told()
    local.spawn()
    client = RealtimeClient(local.endpoint, told)
    try:
        client.weigh_texts(True)
        client.start()
        async with asyncio.timeout(60):
            await told.ready.wait()
        weighed = await spoken(client, voice)
        client.weigh_texts(False)
        plain = await spoken(client, voice)
    finally:
        await client.close()
        await local.close()
    assert told.pieces(weighed) == [told.of(weighed).text]
    others = told.of(weighed).others
    assert others
    assert told.of(weighed).text not in {other.text for other in others}
    assert [other.behind for other in others] == sorted(other.behind for other in others)
    assert told.of(plain).others == ()


async def spoken(client: RealtimeClient, voice: str) -> int:
    """A turn in which one command is said, in blocks as a microphone gives them; its text is there."""
    samples = say("press control shift t", voice)
    turn = client.begin()
    for at in range(0, len(samples), 1600):
        client.append(turn, samples[at : at + 1600])
    client.end(turn)
    assert await client.finished(60)
    return turn
