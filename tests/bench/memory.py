"""What an idle session holds in each tier, and what bringing it back costs: `python tests/bench/memory.py [SESSIONS]`.

A Voxtral Realtime of small shape with random weights, in this process: one session of 60 s is put into every tier, as
the ledger and as the operating system see it, and brought back. Then two sessions speak while SESSIONS (200) idle ones
are parked, and their steps are timed with and without those.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import psutil
import torch
from speech import pcm16, recording
from tiny_voxtral import SMALL, build
from voxtral_turns import runner_of

from sayso.engine import messages as m
from sayso.engine.loading import bound_heap, give_back_memory
from sayso.engine.resting import Resting
from sayso.engine.runner.base import Stream
from sayso.engine.runner.voxtral_realtime import VoxtralRunner
from sayso.engine.session import Session

MB = 1e6
TARGET_MS = {"host": 15.0, "disk": 40.0}
STEP_SAMPLES = 1280
ROUNDS = 5


class Bench:
    """Sessions, and what puts them away."""

    def __init__(self, runner: VoxtralRunner, folder: Path) -> None:
        self.runner = runner
        self.sessions: dict[str, Session] = {}
        self.resting = Resting(self.sessions, self, time.monotonic, self._close, self._fail, folder)

    def idle_s(self, session: str) -> float:
        return 0.0

    def open(self, name: str) -> None:
        session = Session(name, 0, m.SessionOptions(), self.runner.stream, gated=False)
        self.sessions[name] = session

    def hear(self, samples: np.ndarray, *names: str) -> None:
        """Samples that are heard and answered."""
        for name in names:
            self.sessions[name].receive(0, pcm16(samples))
        self.resting.bring_back()
        for name in names:
            while self.sessions[name].examinable:
                self.sessions[name].heard(np.ones(len(self.sessions[name].examine(62)), np.float32))
        while streams := [stream for name in names if (stream := self._due(name)) is not None]:
            self.runner.run(streams)
            for name in names:
                self.sessions[name].results()

    def _due(self, name: str) -> Stream | None:
        session = self.sessions[name]
        return session.stream if session.offer(0.0) is not None else None

    def _close(self, name: str, reason: str) -> None:
        self.sessions.pop(name).close()

    def _fail(self, session: Session, code: str, message: str) -> None:
        raise RuntimeError(f"{session.name}: {code}: {message}")


def resident() -> int:
    give_back_memory()
    return psutil.Process().memory_info().rss


def tiers(bench: Bench, minute: np.ndarray) -> None:
    """One session of a minute in every tier and back."""
    bench.open("a")
    bench.hear(minute, "a")
    row = "{:8} {:>10} {:>10} {:>10} {:>14} {:>10} {:>12}"
    print(row.format("tier", "device MB", "host MB", "disk MB", "process -MB", "back ms", "target ms"))
    for tier in ("host", "disk", "dropped"):
        times, freed = [], 0
        for _ in range(ROUNDS if tier != "dropped" else 1):
            before = resident()
            bench.resting.park("a", tier)  # type: ignore[arg-type]
            freed = before - resident()
            ledger = bench.sessions["a"].ledger(0.0, 0.0)
            began = time.perf_counter()
            bench.resting.restore("a")
            if tier == "dropped":
                bench.hear(minute[:STEP_SAMPLES], "a")
            times.append(1000 * (time.perf_counter() - began))
        bytes_in = [f"{each / MB:.1f}" for each in (ledger.kv, ledger.kv_host, ledger.kv_disk)]
        figures = (f"{freed / MB:.1f}", f"{statistics.median(times):.1f}", f"{TARGET_MS.get(tier, 0):.0f}")
        print(row.format(tier, *bytes_in, *figures), flush=True)
    held = bench.sessions["a"].ledger(0.0, 0.0)
    print(f"in the model again: {held.kv / MB:.1f} MB of keys and values, {held.audio / MB:.1f} MB of audio")
    bench.sessions.pop("a").close()


def crowd(bench: Bench, idle: int, samples: np.ndarray) -> None:
    """The steps of two speakers, alone and beside many idle sessions, in turns."""
    for name in ("x", "y"):
        bench.open(name)
    alone = _steps(bench, samples[: len(samples) // 2])
    before = resident()
    for number in range(idle):
        name = f"idle {number}"
        bench.open(name)
        bench.hear(samples[:32_000], name)
        bench.resting.park(name, "host")
    ledgers = [session.ledger(0.0, 0.0) for session in bench.sessions.values()]
    parked = sum(each.kv_host + each.audio for each in ledgers[2:])
    grown = resident() - before
    beside = _steps(bench, samples[len(samples) // 2 :])
    print(f"{idle} parked sessions of 2 s: {parked / MB:.0f} MB by the ledger, {grown / MB:.0f} MB by the system")
    print(f"a step of 2 speakers: {alone:.1f} ms alone, {beside:.1f} ms beside them, {beside / alone:.2f} of it")


def _steps(bench: Bench, samples: np.ndarray) -> float:
    """Milliseconds of processor time of a step, the median."""
    times = []
    for at in range(0, len(samples) - STEP_SAMPLES, STEP_SAMPLES):
        began = time.process_time()
        bench.hear(samples[at : at + STEP_SAMPLES], "x", "y")
        bench.resting.put_away()
        times.append(1000 * (time.process_time() - began))
    return statistics.median(times)


def main() -> None:
    idle = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    bound_heap()
    torch.set_num_threads(2)
    torch.set_grad_enabled(False)
    samples = np.resize(recording("beckett"), 60 * m.SAMPLE_RATE).astype(np.float32)
    with tempfile.TemporaryDirectory() as parent:
        runner = runner_of(build(Path(parent) / "small", SMALL, scale=0.04), "float32", places=8)
        bench = Bench(runner, Path(parent))
        bench.resting.rules = m.Retention(close_s=3600.0)
        runner.warm()
        tiers(bench, samples)
        crowd(bench, idle, samples[: 12 * m.SAMPLE_RATE])
        bench.resting.close()


if __name__ == "__main__":
    main()
