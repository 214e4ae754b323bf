"""Simulated days of use of one server: people who come, speak, fall silent, vanish, come back, leave or are sent away.

Everything is drawn from seeds. Lunch and night are hours of a clock that the test moves, so that the engine rests.
"""

from __future__ import annotations

import asyncio
import gc
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import platformdirs
import psutil
from session_callers import REPLY_S, Caller

LUNCH_S = 3600.0
NIGHT_S = 8 * 3600.0
UNLOAD_AFTER_S = 1800.0
END_AFTER_S = 2 * 3600.0
RESUME_S = 60.0
"""Longer than anybody needs to come back, on a busy machine too."""
LONGEST_SILENCE_S = 0.9
"""Of the real clock, which the engine's own rules go by."""
MOST_READINGS = 20
MB = 1e6
DEPTH = {"device": 0, "host": 1, "disk": 2, "dropped": 3}


def private_cache(folder: Path, set_variable: Callable[[str, str], None]) -> Path:
    """Let engines hibernate below ``folder``, with the compiled kernels of this user; the place where they do."""
    kernels = platformdirs.user_cache_path("sayso") / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    (folder / "sayso").mkdir(parents=True)
    (folder / "sayso" / "kernels").symlink_to(kernels)
    set_variable("XDG_CACHE_HOME", str(folder))
    return folder / "sayso" / "hibernated"


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def own_mb(pid: int) -> float:
    """Memory of a process that is not of files: whether those count as its own depends on who else has them open."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return sum(int(rows[name].split()[0]) for name in ("RssAnon", "RssShmem")) * 1024 / MB


class DayClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass(frozen=True)
class Clip:
    """Speech in two halves, and what it is heard as on a fresh session: whole, and the first half alone."""

    first: bytes
    second: bytes
    whole_text: str
    first_text: str


class Keeper:
    """What the HTTP side of a server tells, and what can be asked of it. One connection at a time, for one request."""

    def __init__(self, url: str) -> None:
        base = url.replace("ws://", "http://").removesuffix("/v1/realtime")
        # Both ends are files of this process, and one that is kept open for its next request would be counted with
        # what the server leaves open: several of them when several people asked at once.
        one = httpx.Limits(max_connections=1, max_keepalive_connections=0)
        self._http = httpx.AsyncClient(base_url=base, trust_env=False, timeout=REPLY_S, limits=one)

    async def close(self) -> None:
        await self._http.aclose()

    async def limit(self, **limits: float) -> None:
        (await self._http.patch("/v1/limits", json=limits)).raise_for_status()

    async def sessions(self) -> list[dict[str, Any]]:
        data: list[dict[str, Any]] = (await self._http.get("/v1/sessions")).raise_for_status().json()["data"]
        return data

    async def end(self, session: str) -> None:
        (await self._http.delete(f"/v1/sessions/{session}")).raise_for_status()

    async def park(self, session: str, tier: str) -> None:
        (await self._http.post(f"/v1/sessions/{session}/park", json={"tier": tier})).raise_for_status()

    async def health(self) -> dict[str, Any]:
        health: dict[str, Any] = (await self._http.get("/health")).raise_for_status().json()
        return health

    async def counts(self) -> dict[str, float]:
        """Everything that ``/metrics`` counts, by name with labels."""
        text = (await self._http.get("/metrics")).raise_for_status().text
        rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    async def until_sessions(self, matches: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The list of sessions, as soon as it is like this; bounded."""
        rows = await self.sessions()
        async with asyncio.timeout(REPLY_S):
            while not matches(rows):
                await asyncio.sleep(0.05)
                rows = await self.sessions()
        return rows

    async def until_engine(self, state: str) -> int:
        """The process id of the engine, as soon as its state is this."""
        health = await self.health()
        async with asyncio.timeout(REPLY_S):
            while health["status"] != state:
                await asyncio.sleep(0.05)
                health = await self.health()
        return int(health["engine"]["pid"])


@dataclass(frozen=True)
class Evening:
    """What is left of a day when everybody has gone and the weights are given back.

    With weights an engine's memory differs by tens of MB from one load to the next, and none of that stays.
    """

    server_mb: float
    engine_mb: float
    engine_pid: int
    tasks: int
    server_files: int
    engine_files: int
    engine_threads: int


@dataclass
class Days:
    """The life of one server. ``visits`` counts what people did."""

    url: str
    model: str
    clock: DayClock
    keeper: Keeper
    clips: Sequence[Clip]
    hibernated: Path
    holds: bool
    """Whether sessions hold keys and values between words, which can be put away."""
    seed: int = 0
    people: int = 4
    visits: Counter[str] = field(default_factory=Counter)
    number: int = 0

    async def pass_one(self, *, ends: bool) -> Evening:
        """A day and its night, in which the engine ends, or keeps its process without weights."""
        self.number += 1
        stayers = [Person(self, random.Random(f"{self.seed} {self.number} stays {n}")) for n in range(2)]
        await asyncio.gather(*(each.arrive() for each in stayers), self._sitting("morning"))
        await self._forget_the_lost()
        await self._rest(LUNCH_S)
        await asyncio.gather(*(each.stay() for each in stayers), self._sitting("afternoon"))
        await self._forget_the_lost()
        await self.keeper.until_sessions(lambda rows: not rows)
        await self._rest(LUNCH_S)
        evening = await self._evening()
        if ends:
            self.clock.now_s += NIGHT_S
            await self._until_ended()
        return evening

    async def _sitting(self, when: str) -> None:
        seeds = [random.Random(f"{self.seed} {self.number} {when} {n}") for n in range(self.people)]
        async with asyncio.TaskGroup() as group:
            for each in seeds:
                group.create_task(Person(self, each).visit())

    async def _forget_the_lost(self) -> None:
        """Nobody comes back any more for what was abandoned."""
        await self.keeper.limit(resume_s=0)
        await self.keeper.until_sessions(lambda rows: all(row["connected"] for row in rows))
        await self.keeper.limit(resume_s=RESUME_S)

    async def _rest(self, seconds: float) -> None:
        """The engine drops its weights."""
        await self.keeper.until_engine("ready")
        self.clock.now_s += seconds
        await self.keeper.until_engine("idle")

    async def _until_ended(self) -> None:
        pid = 1
        async with asyncio.timeout(REPLY_S):
            while pid:
                await asyncio.sleep(0.05)
                pid = (await self.keeper.health())["engine"]["pid"]

    async def _evening(self) -> Evening:
        """The lowest of some readings: the engine gives back what it can within a second, sockets close meanwhile."""
        assert not files_below(self.hibernated)
        engine = psutil.Process(await self.keeper.until_engine("idle"))
        readings: list[Evening] = []
        while len(readings) < MOST_READINGS and not _settled(readings):
            await asyncio.sleep(0.15)
            gc.collect()
            readings.append(_read(engine))
        return Evening(
            min(each.server_mb for each in readings),
            min(each.engine_mb for each in readings),
            engine.pid,
            min(each.tasks for each in readings),
            min(each.server_files for each in readings),
            min(each.engine_files for each in readings),
            min(each.engine_threads for each in readings),
        )


def _settled(readings: Sequence[Evening]) -> bool:
    return len(readings) >= 10 and readings[-1] == readings[-2]


def _read(engine: psutil.Process) -> Evening:
    own = psutil.Process()
    return Evening(
        own_mb(own.pid),
        own_mb(engine.pid),
        engine.pid,
        len(asyncio.all_tasks()),
        own.num_fds(),
        engine.num_fds(),
        engine.num_threads(),
    )


class Person:
    """One client of a day; all that it does is drawn from ``chance``."""

    def __init__(self, days: Days, chance: random.Random) -> None:
        self._days, self._chance = days, chance
        self._caller = Caller(days.url, days.model)

    async def visit(self) -> None:
        """Some turns, one way to go."""
        await self._caller.connect()
        for _ in range(self._chance.randint(1, 2)):
            await self._turn()
        await self._go(self._chance.choice(["leaves", "leaves", "abandons", "vanishes in silence", "is sent away"]))

    async def arrive(self) -> None:
        """Speak, and stay silent over lunch."""
        await self._caller.connect()
        await self._turn()

    async def stay(self) -> None:
        """Speak to an engine that may have gone, and leave."""
        await self._turn()
        await self._go("leaves")

    async def _turn(self) -> None:
        clip = self._chance.choice(self._days.clips)
        await self._caller.start()
        await self._caller.speak(clip.first)
        how = self._chance.choice(["speaks on", "falls silent", "is put away", "comes back"])
        self._days.visits[how] += 1
        if how == "falls silent":
            await self._silence()
        elif how == "is put away":
            await self._until_put_away(self._chance.choice(["host", "disk", "dropped"]))
        elif how == "comes back":
            await self._caller.vanish()
            await self._silence()
            await self._caller.connect()
        await self._caller.speak(clip.second)
        text = await self._caller.end()
        assert text == clip.whole_text, f"day {self._days.number}, who {how}"

    async def _go(self, how: str) -> None:
        self._days.visits[how] += 1
        clip = self._chance.choice(self._days.clips)
        if how == "leaves":
            await self._caller.leave()
        elif how == "vanishes in silence":
            await self._caller.vanish()
        else:
            await self._caller.start()
            await self._caller.speak(clip.first)
            await self._silence()
            if how == "abandons":
                await self._caller.vanish()
                return
            await self._days.keeper.end(self._caller.session)
            assert await self._caller.text() == clip.first_text
            assert await self._caller.closed() == 1000

    async def _silence(self) -> None:
        """As long as it happens to be: into the very moment of parking, dropping or coming back too."""
        await asyncio.sleep(self._chance.uniform(0.0, LONGEST_SILENCE_S))

    async def _until_put_away(self, tier: str) -> None:
        """Silence until what the engine holds is in this place, or deeper; a model without such things stays as is."""
        name = self._caller.session

        def there(rows: list[dict[str, Any]]) -> bool:
            row = next(row for row in rows if row["id"] == name)
            return row["tier"] != "none" and DEPTH[row["tier"]] >= DEPTH[tier]

        if self._days.holds:
            await self._days.keeper.until_sessions(there)
        else:
            await self._silence()
