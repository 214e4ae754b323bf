"""A session that is taken up again over another connection: nothing lost, nothing there twice. Real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from random import Random

import numpy as np
import pytest
from cut_off import Cut, Way
from running_server import BOUND_S, ask, eventually, scripted, server

from sayso.app.realtime import client as client_module
from sayso.app.realtime.client import RealtimeClient
from sayso.app.realtime.endpoint import remote
from sayso.app.realtime.events import RealtimeEvent, TurnDone, TurnLost, TurnStable, TurnWords
from sayso.app.realtime.resumption import Resumption, Ticket
from sayso.server.config import ServerConfig
from sayso.server.protocol.events import HeardFrames, Resumable

BLOCK = 1_600
SEEDS = int(os.environ.get("SAYSO_TEST_SEEDS", "8"))


def speech(*numbers: int) -> np.ndarray:
    """What the scripted engine hears as these words, half a second each."""
    values = np.array(numbers, np.float32)[:, None] / 32_767
    return np.concatenate([np.repeat(values, 6_400, 1), np.zeros((len(numbers), 1_600), np.float32)], 1).ravel()


def said(first: int, last: int) -> str:
    return " ".join(f"w{number}" for number in range(first, last + 1))


class Speaker:
    """A client and what it was told."""

    def __init__(self, url: str) -> None:
        self.events: list[RealtimeEvent] = []
        self.client = RealtimeClient(remote(url), self.events.append)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    async def turn(self, first: int, last: int, pause_s: float = 0.0) -> str:
        """Say these words as one turn, and wait for its text."""
        turn = self.client.begin()
        samples = speech(*range(first, last + 1))
        for start in range(0, len(samples), BLOCK):
            self.client.append(turn, samples[start : start + BLOCK])
            await asyncio.sleep(pause_s)
        self.client.end(turn)
        assert await self.client.finished(BOUND_S)
        (done,) = [event for event in self.of(TurnDone) if event.turn == turn]
        assert done.text == "".join(event.text for event in self.of(TurnStable) if event.turn == turn)
        return done.text


@contextlib.asynccontextmanager
async def speaker(url: str) -> AsyncIterator[Speaker]:
    it = Speaker(url)
    it.client.start()
    try:
        yield it
    finally:
        await it.client.close()


async def figure(url: str, name: str) -> float:
    lines = (await ask(url, "GET", "/metrics")).text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def breaks(random: Random) -> list[Cut]:
    """Up to six connections that break at any byte, up or down, seen by the server at once or not."""
    return [
        Cut(
            up=random.choice((None, random.randrange(300, 600_000))),
            down=random.choice((None, random.randrange(300, 8_000))),
            silent=random.random() < 0.5,
        )
        for _ in range(random.randrange(7))
    ]


async def test_wherever_connections_break_the_text_is_as_if_they_had_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_RETRIES_S", (0.0,))
    async with server(scripted("--hears")) as url:
        for seed in range(SEEDS):
            async with Way(breaks(Random(seed))).open(url) as way, speaker(way.url) as it:
                assert await it.turn(1, 30) == said(1, 30), seed
                assert await it.turn(31, 40) == said(31, 40), seed
                assert not it.of(TurnLost), seed
                words = [word for event in it.of(TurnWords) for word in event.words]
                assert [word.text for word in words] == said(1, 40).split(), seed
                # Audio that was lost or sent twice would move all words after it.
                assert [word.start_ms for word in words] == [500 * number for number in (*range(30), *range(10))], seed
        assert await figure(url, "sayso_replays_total") == 0
        assert await figure(url, "sayso_resumes_total") > SEEDS / 4


async def test_a_session_goes_on_and_only_what_is_missing_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_RETRIES_S", (0.0,))
    breaks = [Cut(up=200_000), Cut(down=3_000, silent=True)]
    async with server(scripted("--hears")) as url, Way(breaks).open(url) as way, speaker(way.url) as it:
        await eventually(lambda: bool(it.client.session_id))
        name = it.client.session_id
        assert await it.turn(1, 40) == said(1, 40)
        assert way.connections == 3
        assert it.client.session_id == name
        assert await figure(url, "sayso_resumes_total") == 2
        (session,) = (await ask(url, "GET", "/v1/sessions")).json()["data"]
        assert (session["id"], session["connected"]) == (name, True)


async def test_when_the_server_does_not_keep_sessions_the_client_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_RETRIES_S", (0.0,))
    config = ServerConfig(port=0, resume_s=0)
    broken = Way([Cut(up=200_000)])
    async with server(scripted("--hears"), config) as url, broken.open(url) as way, speaker(way.url) as it:
        assert await it.turn(1, 40) == said(1, 40)
        assert way.connections == 2
        assert await figure(url, "sayso_resumes_total") == 0


async def test_a_client_that_comes_back_too_late_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_RETRIES_S", (1.0,))
    config = ServerConfig(port=0, resume_s=0.05)
    broken = Way([Cut(up=200_000)])
    async with server(scripted("--hears"), config) as url, broken.open(url) as way, speaker(way.url) as it:
        assert await it.turn(1, 40) == said(1, 40)
        assert way.connections == 2
        assert await figure(url, "sayso_resumes_total") == 0


def test_a_ticket_is_for_the_server_that_gave_it() -> None:
    resumption = Resumption()
    assert resumption.ticket("ws://a") is None
    resumption.heard()
    resumption.offered("ws://a", Resumable("secret", 30.0))
    resumption.heard()
    assert resumption.ticket("ws://a") == Ticket("secret", 1)
    assert resumption.ticket("ws://b") is None
    resumption.forget()
    assert resumption.ticket("ws://a") is None


def test_the_server_is_told_now_and_then_how_much_came() -> None:
    resumption = Resumption()
    resumption.offered("ws://a", Resumable("secret", 30.0))
    told = []
    for _ in range(200):
        resumption.heard()
        told.append(resumption.next_message())
    assert [message for message in told if message] == [HeardFrames(64), HeardFrames(128), HeardFrames(192)]
