"""The real engine process gives back, as the system sees it, what its ledger says that it held: weights and caches.

Nothing is waited for: memory is back when the engine answers the message behind the one that asked for it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil
import pytest
import speech
from running_engine import WAIT_S, EngineProcess
from served_days import own_mb
from tiny_voxtral import ROOMY, SMALL, build, warbling

from sayso.engine import messages as m

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of a process"),
]

SHARE = 0.95
"""Of what the ledger says, at least."""
MOST_KEPT_MB = 4.0
"""The kernels of five speakers take 15 MB more than those of a silent start."""


def resident_bytes(engine: EngineProcess) -> int:
    """Weights that are used as they lie in their file are part of it."""
    return psutil.Process(engine.process.pid).memory_info().rss


def load(engine: EngineProcess, model: str, precision: str) -> None:
    engine.send(m.Load(model, "cpu", 2, precision))
    engine.wait_for(lambda message: isinstance(message, m.Ready))


def told(engine: EngineProcess, session: str = "") -> m.Memory:
    """The first report that has weights, and the session in an open turn that waits if one is named."""

    def fits(message: m.Message) -> bool:
        if not isinstance(message, m.Memory) or not message.weights:
            return False
        return not session or any(each.session == session and each.state == "waiting" for each in message.sessions)

    memory = engine.wait_for(fits)
    assert isinstance(memory, m.Memory)
    return memory


def answered(engine: EngineProcess, number: int) -> None:
    engine.send(m.Ping(number))
    engine.wait_for(lambda message: message == m.Pong(number))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("small"), SMALL, scale=0.04)


@pytest.mark.parametrize("model", ["tiny.en", "voxtral float32", "voxtral int8"])
def test_a_drop_and_an_unload_give_back_what_the_ledger_says(small: Path, model: str) -> None:
    holds = model != "tiny.en"
    samples = warbling(8.0) if holds else speech.recording("two_cities")[: 8 * m.SAMPLE_RATE]
    with EngineProcess() as engine:
        load(engine, str(small) if holds else model, model.split()[-1] if holds else "auto")
        engine.open("a")
        engine.audio("a", samples, chunk=16_000)
        if holds:
            # The turn stays open: what was heard of it is held.
            (held,) = told(engine, "a").sessions
            before = resident_bytes(engine)
            engine.send(m.Park("a", "dropped"))
            engine.wait_for(lambda message: isinstance(message, m.Parked) and message.tier == "dropped")
            assert held.kv > 4e6
            assert before - resident_bytes(engine) >= SHARE * held.kv
        else:
            engine.flush("a", 1)
        weights, before = told(engine).weights, resident_bytes(engine)
        engine.send(m.Unload())
        answered(engine, 1)
        fell = before - resident_bytes(engine)
        print(f"{model}: {weights / 1e6:.1f} MB of weights, {fell / 1e6:.1f} MB fell")
        assert weights > 20e6
        assert fell >= SHARE * weights


def test_what_makes_steps_faster_is_given_back_when_nobody_has_spoken_for_a_second(tmp_path: Path) -> None:
    """Kernels are made for each number of speakers; here one to five speak together, and then nobody does."""
    samples = warbling(1.0)
    with EngineProcess() as engine:
        load(engine, str(build(tmp_path / "roomy", ROOMY)), "float32")
        told(engine)
        before = own_mb(engine.process.pid)
        for size in range(1, 6):
            names = [f"{each} of {size}" for each in range(size)]
            for name in names:
                engine.open(name)
                engine.audio(name, samples)
                engine.send(m.Flush(name, 0, size))
            for name in names:
                engine.wait_for(lambda message: isinstance(message, m.Flushed), name)
        until = time.monotonic() + WAIT_S
        while (grown := own_mb(engine.process.pid) - before) > MOST_KEPT_MB:
            assert time.monotonic() < until, f"{grown:.1f} MB are kept"
            time.sleep(0.1)
