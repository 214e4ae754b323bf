"""Speech in the very moment in which memory is given back: real server, real engine, moments drawn by hypothesis.

Each piece of speech goes out beside a request to put its session away, or to unload or end the engine; which of them
comes first, and by how much, is drawn. Whatever comes of it, the text is what an undisturbed turn gives.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bounded import child, read_line
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running_server import ask
from served_days import Keeper, files_below, private_cache
from session_callers import Caller, fresh_text
from speech import pcm16
from tiny_voxtral import build, warbling

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

MOVES = ("sayso_parks", "sayso_restores", "sayso_park_failures", "sayso_engine_unloads")
TIERS = ("host", "disk", "dropped")
SOUND = pcm16(warbling(6.0))
MOST_MS = 30
"""A step of this model takes a few milliseconds, and so does a request."""


@dataclass(frozen=True)
class Piece:
    """Speech after ``spoken_ms`` beside what is asked for after ``asked_ms``; the next piece follows both.

    Before both there is ``quiet_ms``, in which what was said before may be heard to its end.
    """

    samples: int
    ask: str
    quiet_ms: int
    spoken_ms: int
    asked_ms: int


@dataclass
class Place:
    """A server process, and what was asked of it so far."""

    url: str
    hibernated: Path
    undisturbed: dict[bytes, str] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    moved: dict[str, int] = field(default_factory=dict)
    """What the server counted of it."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("moments")
    environment = dict(os.environ)
    hibernated = private_cache(folder / "cache", environment.__setitem__)
    config = {"port": 0, "model": str(build(folder / "tiny")), "threads": 1}
    command, log = [sys.executable, "-m", "sayso.server"], folder / "log"
    with child(command, environment, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(config).encode() + b"\n")
        process.stdin.flush()
        yield Place(json.loads(read_line(process.stdout.fileno(), "the server's URL", 60))["url"], hibernated)
    assert "Traceback" not in log.read_text()
    assert not files_below(hibernated)


asks = st.sampled_from(["", *TIERS, *TIERS, "unload"])
moments = st.integers(0, MOST_MS)
pieces = st.builds(
    Piece, st.sampled_from([1_300, 4_000, 9_000, 16_000]), asks, st.sampled_from([0, 400]), moments, moments
)
turns = st.lists(st.lists(pieces, min_size=2, max_size=5), min_size=2, max_size=3)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns)
def test_what_is_said_then_is_heard_as_if_nothing_had_been_given_back(place: Place, said: list[list[Piece]]) -> None:
    asyncio.run(spoken_through(place, said))
    print(dict(place.asked), place.moved)


@pytest.mark.soak
@pytest.mark.timeout(0)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns)
def test_in_hundreds_of_conversations(place: Place, said: list[list[Piece]]) -> None:
    asyncio.run(spoken_through(place, said))
    print(dict(place.asked), place.moved, flush=True)


async def spoken_through(place: Place, said: list[list[Piece]]) -> None:
    """One conversation, and that nothing of it is left."""
    keeper, caller = Keeper(place.url), Caller(place.url, "tiny")
    try:
        sounds = [sound(pieces) for pieces in said]
        for each in sounds:
            if each not in place.undisturbed:
                place.undisturbed[each] = await fresh_text(place.url, each, "tiny")
        await caller.connect()
        for pieces, pcm in zip(said, sounds, strict=True):
            await caller.start()
            at = 0
            for piece in pieces:
                end = at + 2 * piece.samples
                await asyncio.sleep(piece.quiet_ms / 1000)
                await asyncio.gather(
                    after(piece.spoken_ms, caller.speak, pcm[at:end]),
                    after(piece.asked_ms, give_back, place, caller.session, piece.ask),
                )
                at = end
            assert await caller.end() == place.undisturbed[pcm]
        await caller.leave()
        await keeper.until_sessions(lambda rows: not rows)
        counts = await keeper.counts()
        assert counts["sayso_engine_restarts_total"] == counts["sayso_replays_total"] == 0
        place.moved = {name: int(count) for name, count in counts.items() if name.startswith(MOVES)}
    finally:
        await keeper.close()


async def after(ms: int, act: Callable[..., Awaitable[None]], *arguments: object) -> None:
    """Do it at its moment."""
    await asyncio.sleep(ms / 1000)
    await act(*arguments)


async def give_back(place: Place, session: str, what: str) -> None:
    """Ask for it; a session of which the engine holds nothing just then, or an engine that rests, cannot be parked."""
    if what == "unload":
        answer = await ask(place.url, "POST", "/v1/engine/unload")
    elif what:
        answer = await ask(place.url, "POST", f"/v1/sessions/{session}/park", json={"tier": what})
    else:
        return
    assert answer.status_code in (200, 202, 409)
    place.asked[f"{what} {answer.status_code}"] += 1


def sound(pieces: list[Piece]) -> bytes:
    """One of few sounds, so that most are heard undisturbed only once."""
    return SOUND[: 2 * sum(piece.samples for piece in pieces)]
