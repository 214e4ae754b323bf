"""Text sessions that are put away, in every tier and at any moment, answer as those that were not."""

import errno
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_causal import FAMILIES, build

from sayso.engine import catalog
from sayso.engine.messages import Retention, Tier
from sayso.engine.options import TokenLimits
from sayso.engine.parcel import Vault
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.sampling import SamplingParams
from sayso.engine.scheduler import Scheduler
from sayso.engine.token_session import Chunk, Output
from sayso.engine.token_worker import TokenWorker
from sayso.engine.worker import step

TIERS: tuple[Tier, ...] = ("host", "disk", "dropped")
GREEDY = SamplingParams(max_tokens=6, temperature=0, ignore_eos=True)
RANDOM = random.Random(4)
CHUNKS = [Chunk(tuple(RANDOM.randrange(60) for _ in range(count)), GREEDY) for count in (11, 5, 17, 3)]


MODELS = {"llama": "float32", "llama, tied, one head for all": "float32/int8", "mistral, window": "float32"}


@pytest.fixture(scope="module", params=MODELS)
def runner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CausalRunner]:
    folder = build(tmp_path_factory.mktemp("models") / "tiny", FAMILIES[request.param])
    threads, files = torch.get_num_threads(), catalog.resolve(str(folder))
    torch.set_num_threads(1)
    yield CausalRunner.load(files, "cpu", MODELS[request.param], cache_bytes=1 << 20, block_tokens=8)
    torch.set_num_threads(threads)


class Bench:
    """A worker and a clock that the test moves."""

    def __init__(self, runner: CausalRunner, vault: Vault | None, rules: Retention | None = None) -> None:
        self.worker = TokenWorker(runner, TokenLimits(retention=rules), vault=vault)
        self.scheduler = Scheduler(8, 400.0, 64)
        self.now = 0.0
        self.said: dict[str, list[int | None]] = {}

    def step(self) -> int:
        self.worker.expire(self.now)
        ran = step(self.scheduler, (self.worker,), self.now)
        for name, event in self.worker.take():
            if isinstance(event, Output):
                self.said.setdefault(name, []).append(event.token)
                self.worker.read(name, 1, self.now)
        return ran

    def settle(self) -> None:
        while self.step():
            pass

    def state(self, name: str) -> str:
        return next(each.state for each in self.worker.ledger(self.now) if each.session == name)


def answers(runner: CausalRunner) -> list[int | None]:
    bench = Bench(runner, None)
    bench.worker.open("a", "a", 0.0)
    for chunk in CHUNKS:
        bench.worker.push("a", chunk, 0.0)
        bench.settle()
    bench.worker.end("a")
    return bench.said["a"]


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*TIERS, None]), min_size=len(CHUNKS), max_size=len(CHUNKS)), st.integers(0, 4))
def test_restored_is_never_parked(runner: CausalRunner, tmp_path: Path, tiers: list[Tier | None], early: int) -> None:
    vault = Vault(tmp_path)
    bench = Bench(runner, vault)
    for name in "ab":
        bench.worker.open(name, name, 0.0)
    for chunk, tier in zip(CHUNKS, tiers, strict=True):
        bench.worker.push("a", chunk, 0.0)
        bench.worker.push("b", chunk, 0.0)
        for _ in range(early):
            bench.step()
        assert not bench.worker.put_away("a", "host")
        bench.settle()
        if tier is not None:
            assert bench.worker.put_away("a", tier)
    for name in "ab":
        bench.worker.end(name)
    # Only now: sessions of one name share a table of pages.
    expected = answers(runner)
    assert len(expected) == 24
    assert bench.said == {"a": expected, "b": expected}
    assert bench.worker.blocks.used == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    vault.close()


def test_what_is_parked_is_not_computed_again_and_what_is_dropped_is(runner: CausalRunner, tmp_path: Path) -> None:
    for tier, more in (("host", 0), ("disk", 0), ("dropped", 16)):
        bench = Bench(runner, Vault(tmp_path))
        bench.worker.open("a", "a", 0.0)
        bench.worker.push("a", CHUNKS[0], 0.0)
        bench.settle()
        before = bench.worker.computed_tokens
        bench.worker.put_away("a", tier)  # type: ignore[arg-type]
        (ledger,) = bench.worker.ledger(0.0)
        assert (ledger.kv, ledger.kv_host > 0, ledger.kv_disk > 0) == (0, tier == "host", tier == "disk")
        assert bench.worker.blocks.used == 0
        bench.worker.push("a", CHUNKS[1], 0.0)
        bench.settle()
        assert bench.worker.computed_tokens - before == 5 + 5 + more
        bench.worker.end("a")


def test_a_disk_that_refuses_and_a_file_that_vanished_cost_a_computation_and_nothing_else(
    runner: CausalRunner, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "folder"):
        bench = Bench(runner, Vault(place))
        bench.worker.open("a", "a", 0.0)
        for chunk in CHUNKS:
            bench.worker.push("a", chunk, 0.0)
            bench.settle()
            bench.worker.put_away("a", "disk")
            for path in (tmp_path / "folder").rglob("*"):
                if path.is_file():
                    path.unlink()
        bench.worker.end("a")
        assert bench.said["a"] == answers(runner)


def test_host_memory_that_is_full_costs_a_computation_and_nothing_else(
    runner: CausalRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(nbytes: int) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    bench = Bench(runner, Vault(tmp_path))
    bench.worker.open("a", "a", 0.0)
    for chunk in CHUNKS:
        bench.worker.push("a", chunk, 0.0)
        bench.settle()
        with monkeypatch.context() as patch:
            patch.setattr("sayso.engine.packing.room", full)
            assert bench.worker.put_away("a", "host")
        assert bench.state("a") == "dropped"
    bench.worker.end("a")
    assert bench.said["a"] == answers(runner)


def test_rules_park_drop_and_end_idle_sessions_and_the_loop_knows_when(runner: CausalRunner, tmp_path: Path) -> None:
    bench = Bench(runner, Vault(tmp_path), Retention(park_s=10.0, drop_s=20.0, close_s=30.0))
    bench.worker.open("a", "a", 0.0)
    bench.worker.push("a", CHUNKS[0], 0.0)
    bench.settle()
    for now, due, state in ((9.0, 10.0, "waiting"), (10.0, 20.0, "parked"), (20.0, 30.0, "dropped")):
        bench.now = now
        bench.step()
        assert (bench.state("a"), bench.worker.expires()) == (state, due)
    bench.now = 30.0
    bench.step()
    assert bench.worker.open_sessions == 0
