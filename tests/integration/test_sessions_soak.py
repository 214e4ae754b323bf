"""Days of use against the real server and the real engine process: every text is right, and nothing grows or stays.

A short form is in the suite; ``make soak`` lives for an hour, or SOAK_MINUTES, with each model, and prints figures.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from running_server import server
from served_days import (
    END_AFTER_S,
    MB,
    UNLOAD_AFTER_S,
    Clip,
    DayClock,
    Days,
    Evening,
    Keeper,
    files_below,
    own_mb,
    private_cache,
)
from session_callers import Caller, fresh_text
from speech import pcm16, say
from tiny_voxtral import ROOMY, build, warbling

from sayso.server.config import ServerConfig
from sayso.server.run import engine_settings

pytestmark = [pytest.mark.engine]

MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))
WARM_DAYS = 2
SHORT_DAYS = 2
"""After the warm ones."""
MOST_GROWN_MB = 5.0
PARK_S, HIBERNATE_S, DROP_S = 0.2, 0.4, 0.6
CROWD = 5
CROWD_SPOKEN_S = 7.7
KEPT_TEXTS = ("open the terminal", "type hello world")


@contextlib.asynccontextmanager
async def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, *, holds: bool) -> AsyncIterator[Days]:
    """A server with the engine's real command, in this process; nothing of it is left afterwards."""
    hibernated = private_cache(tmp_path / "cache", monkeypatch.setenv)
    before = asyncio.all_tasks()
    clock = DayClock()
    config = ServerConfig(
        port=0,
        model=model,
        threads=1,
        precision="float32" if holds else "auto",
        engine_unload_after_s=UNLOAD_AFTER_S,
        engine_end_after_s=END_AFTER_S,
    )
    settings = dataclasses.replace(engine_settings(config), clock=clock)
    async with server(settings, config, once_ready=False) as url:
        keeper = Keeper(url)
        await keeper.until_engine("ready")
        name = Path(model).name if holds else model
        clips = [await clip(url, name, samples) for samples in spoken(holds=holds)]
        await keeper.limit(park_after_s=PARK_S, hibernate_after_s=HIBERNATE_S, drop_after_s=DROP_S)
        yield Days(url, name, clock, keeper, clips, hibernated, holds)
        await keeper.close()
    assert not files_below(hibernated)
    assert asyncio.all_tasks() == before
    assert not psutil.Process().children(recursive=True)


def spoken(*, holds: bool) -> list[bytes]:
    """Clips of 1 to 3 s."""
    if holds:
        return [pcm16(warbling(seconds, seed)) for seed, seconds in enumerate((1.0, 2.0, 3.0))]
    return [pcm16(say(text)) for text in KEPT_TEXTS]


async def clip(url: str, model: str, samples: bytes) -> Clip:
    half = len(samples) // 4 * 2
    whole, first = await fresh_text(url, samples, model), await fresh_text(url, samples[:half], model)
    return Clip(samples[:half], samples[half:], whole, first)


async def live(life: Days, *, until: float, at_least: int) -> list[Evening]:
    """Days until that time; every third night ends the engine, at first every one does."""
    nights = random.Random(life.seed)
    evenings: list[Evening] = []
    while time.monotonic() < until or len(evenings) < at_least:
        ends = len(evenings) < WARM_DAYS or nights.random() < 0.3
        began = time.monotonic()
        evenings.append(evening := await life.pass_one(ends=ends))
        took_s, nightfall = time.monotonic() - began, "engine ends" if ends else "engine stays"
        print(
            f"day {life.number}: {took_s:.0f} s, server {evening.server_mb:.1f} MB, "
            f"engine {evening.engine_mb:.1f} MB (process {evening.engine_pid}), {nightfall}; "
            f"{evening.tasks} tasks, files {evening.server_files} and {evening.engine_files}",
            flush=True,
        )
    return evenings


def check_flat(evenings: Sequence[Evening]) -> None:
    """Neither process takes more than in the first days, whichever process it was, and nothing stays open."""
    warm, later = evenings[:WARM_DAYS], evenings[WARM_DAYS:]
    for name in ("server_mb", "engine_mb"):
        print(name, *(f"{getattr(each, name):.1f}" for each in evenings))
    for name in ("server_mb", "engine_mb"):
        assert max(getattr(each, name) for each in later) <= max(getattr(each, name) for each in warm) + MOST_GROWN_MB
    for name in ("tasks", "server_files", "engine_files", "engine_threads"):
        assert max(getattr(each, name) for each in later) <= max(getattr(each, name) for each in warm), name


async def check_counts(life: Days) -> None:
    """What was to happen has happened."""
    counts = await life.keeper.counts()
    shown = {name: value for name, value in counts.items() if "total" in name or "engine_" in name}
    print(f"{life.number} days: {dict(life.visits)}\n{shown}")
    assert counts["sayso_engine_ends_total"] > 0
    assert counts["sayso_engine_unloads_total"] > 0
    assert (counts["sayso_resumes_total"] > 0) == (life.visits["comes back"] > 0)
    if life.holds:
        assert all(counts[f'sayso_parks_total{{tier="{tier}"}}'] > 0 for tier in ("host", "disk", "dropped"))
        assert counts["sayso_restores_total"] > 0


async def check_ledger(life: Days) -> None:
    """A crowd that holds megabytes: the engine's own figure beside the system's, for all of them at once."""
    await life.keeper.limit(park_after_s=0, hibernate_after_s=0, drop_after_s=0)
    pid = await life.keeper.until_engine("ready")
    # The first crowd fills what the process keeps for itself: its heap and its threads' stacks.
    await crowd(life, pid)
    kv, others, grown, fell = await crowd(life, pid)
    print(
        f"{CROWD} sessions: {kv:.1f} MB of keys and values and {others:.1f} of audio by the ledger, "
        f"{grown:.1f} by the system; {fell:.1f} back after a drop"
    )
    assert kv > 10.0
    assert grown == pytest.approx(kv + others, rel=0.1)
    assert fell >= 0.95 * kv
    await life.keeper.limit(park_after_s=PARK_S, hibernate_after_s=HIBERNATE_S, drop_after_s=DROP_S)


async def crowd(life: Days, pid: int) -> tuple[float, float, float, float]:
    """MB of open turns: keys and values, what else they hold, growth as the system sees it, and what a drop frees."""
    samples = pcm16(warbling(CROWD_SPOKEN_S))
    before = with_crowd = await lowest(pid)
    callers = [Caller(life.url, life.model) for _ in range(CROWD)]
    for each in callers:
        await each.connect()
        await each.start()
        await each.speak(samples)
    rows, before_that = await life.keeper.until_sessions(all_alike), -1
    while (kv := held_kv(rows)) != before_that or not all_alike(rows):
        # Reports are a second old at most, and reading the lowest takes longer.
        before_that, with_crowd = kv, await lowest(pid)
        rows = await life.keeper.sessions()
    others = sum(row["bytes"][tier] for row in rows for tier in ("audio", "features"))
    for each in callers:
        await life.keeper.park(each.session, "dropped")
    await life.keeper.until_sessions(lambda rows: all(row["tier"] == "dropped" for row in rows))
    fell = with_crowd - await lowest(pid)
    for each in callers:
        await each.leave()
    await life.keeper.until_sessions(lambda rows: not rows)
    return kv / MB, others / MB, with_crowd - before, fell


def held_kv(rows: Sequence[dict[str, Any]]) -> int:
    return sum(row["bytes"]["kv"] for row in rows)


def all_alike(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether everybody, who said the same, holds the same."""
    return len({row["bytes"]["kv"] for row in rows}) == 1 and held_kv(rows) > 0


async def lowest(pid: int) -> float:
    """MB of a process alone, the least within some seconds: it gives back what it can once in a second."""
    readings = []
    for _ in range(15):
        readings.append(own_mb(pid))
        await asyncio.sleep(0.15)
    return min(readings)


async def whole_life(life: Days, minutes: float) -> None:
    """Days, and before them the ledger where sessions hold something."""
    if life.holds:
        await check_ledger(life)
    evenings = await live(life, until=time.monotonic() + 60 * minutes, at_least=WARM_DAYS + SHORT_DAYS)
    await check_counts(life)
    check_flat(evenings)


@pytest.mark.timeout(600)
async def test_two_days_with_a_model_that_holds_nothing_between_words(tmp_path, monkeypatch) -> None:
    async with days(tmp_path, monkeypatch, "tiny.en", holds=False) as life:
        await whole_life(life, 0.0)


@pytest.mark.timeout(600)
@pytest.mark.soak
async def test_two_days_of_parking_hibernating_and_dropping(tmp_path, monkeypatch) -> None:
    folder = build(tmp_path / "roomy", ROOMY)
    async with days(tmp_path, monkeypatch, str(folder), holds=True) as life:
        await whole_life(life, 0.0)


@pytest.mark.soak
@pytest.mark.parametrize("holds", [False, True])
async def test_an_hour_of_days(tmp_path, monkeypatch, holds: bool) -> None:
    model = str(build(tmp_path / "roomy", ROOMY)) if holds else "tiny.en"
    async with days(tmp_path, monkeypatch, model, holds=holds) as life:
        await whole_life(life, MINUTES / 2)
