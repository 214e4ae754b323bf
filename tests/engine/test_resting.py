"""Sessions of a real model whose windows roll are put away and brought back: what they say is what they would have."""

import errno
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_streams import LoudnessDetector
from speech import pcm16
from tiny_voxtral import Sizes, build, warbling
from voxtral_turns import runner_of, transcribe

from sayso.engine import messages as m
from sayso.engine.loading import bound_heap, give_back_memory
from sayso.engine.resting import Resting
from sayso.engine.runner.voxtral_realtime import VoxtralRunner
from sayso.engine.session import Session, State
from sayso.engine.speech_worker import SpeechWorker

TIERS = ("host", "disk", "dropped")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def runner(folder: Path) -> VoxtralRunner:
    return runner_of(folder, places=2)


class House:
    """Sessions and what puts them away, driven by hand; the clock goes where the test says."""

    def __init__(self, runner: VoxtralRunner, folder: Path) -> None:
        self.now = 0.0
        self.runner = runner
        self.sessions: dict[str, Session] = {}
        self.heard_at: dict[str, float] = {}
        self.said: dict[str, str] = {}
        self.out: list[m.Message] = []
        self.refused: dict[str, str] = {}
        """Sessions that may fail for want of a place."""
        self.resting = Resting(self.sessions, self, lambda: self.now, self._close, self._fail, folder)
        self.speech = SpeechWorker(self.sessions, self._fail, self.resting.make_place)
        self.speech.runner = runner

    def idle_s(self, session: str) -> float:
        return max(0.0, self.now - self.heard_at[session])

    def open(self, *names: str) -> None:
        for name in names:
            session = Session(name, 0, m.SessionOptions(), self.runner.stream, gated=False)
            self.sessions[name], self.heard_at[name], self.said[name] = session, self.now, ""

    def hear(self, name: str, samples: np.ndarray) -> None:
        self.sessions[name].receive(0, pcm16(samples))
        self.heard_at[name] = self.now

    def round(self) -> bool:
        """One round of the loop; whether a model ran."""
        self.resting.bring_back()
        self.listen()
        works = self.speech.offers(self.now)
        if works:
            self.speech.run(works[:2], self.now)
        self.collect()
        self.resting.put_away()
        self.collect()
        return bool(works)

    def listen(self) -> None:
        for session in self.sessions.values():
            if session.examinable:
                session.heard(LoudnessDetector().run([session.examine(62)], [None])[0][0])
        self.collect()

    def settle(self) -> None:
        while self.round():
            pass

    def collect(self) -> None:
        for session in list(self.sessions.values()):
            for message in session.results():
                self.out.append(message)
                if isinstance(message, m.Text) and message.stable:
                    self.said[session.name] += message.piece
        self.out += self.resting.results()

    def finish(self, name: str) -> str:
        self.sessions[name].flush(0, 1)
        self.settle()
        return self.said[name]

    def parked(self, name: str) -> m.Parked:
        """The newest answer."""
        self.collect()
        return [e for e in self.out if isinstance(e, m.Parked) and e.session == name][-1]

    def close(self) -> None:
        for name in list(self.sessions):
            self._close(name, "closed")
        self.resting.close()

    def _close(self, name: str, reason: str) -> None:
        self.sessions.pop(name).close()
        self.out.append(m.Closed(name, reason))

    def _fail(self, session: Session, code: str, message: str) -> None:
        assert session.name in self.refused, f"{session.name}: {code}: {message}"
        self.refused[session.name] = code
        self._close(session.name, "failed")


@pytest.fixture
def house(runner: VoxtralRunner, tmp_path: Path) -> Iterator[House]:
    made = House(runner, tmp_path)
    yield made
    made.close()


SOUND = warbling(7.0, seed=3)
"""Both stacks' windows (0.8 s and 5.1 s) roll over in it."""


@pytest.fixture(scope="module")
def alone(runner: VoxtralRunner) -> str:
    text = transcribe(runner, SOUND).text
    assert len(text) > 50
    return text


# Restored is never parked.


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(300, 40_000), st.sampled_from([*TIERS, None])), min_size=3, max_size=8))
def test_restored_is_never_parked_whatever_the_tier_and_the_moment(
    runner: VoxtralRunner, alone: str, tmp_path: Path, schedule: list[tuple[int, str | None]]
) -> None:
    house = House(runner, tmp_path)
    house.open("a")
    at = 0
    for length, tier in itertools.chain(schedule, [(len(SOUND), None)]):
        house.hear("a", SOUND[at : at + length])
        at += length
        # Even in the middle of the work: that is refused, and nothing is harmed.
        house.round()
        house.resting.park("a", tier or "host")
        house.settle()
        if tier is not None:
            house.resting.park("a", tier)
    assert house.finish("a") == alone
    house.close()


@pytest.mark.parametrize("tier", TIERS)
def test_a_session_in_every_tier_says_its_state_frees_its_place_and_goes_on(
    house: House, runner: VoxtralRunner, alone: str, tier: m.Tier
) -> None:
    house.open("a")
    house.hear("a", SOUND[:90_000])
    house.settle()
    held = house.sessions["a"].ledger(0, 0)
    house.resting.park("a", tier)
    ledger = house.sessions["a"].ledger(0, 0)
    states = {"host": "parked", "disk": "hibernated", "dropped": "dropped"}
    assert (ledger.state, ledger.kv, house.parked("a").tier) == (states[tier], 0, tier)
    assert (ledger.kv_host > 0, ledger.kv_disk > 0) == (tier == "host", tier == "disk")
    assert held.kv <= ledger.kv_host + ledger.kv_disk < 1.2 * held.kv or tier == "dropped"
    assert not house.round()
    house.hear("a", SOUND[90_000:])
    assert house.finish("a") == alone


def test_more_sessions_than_places_take_turns_and_say_what_each_would_alone(
    house: House, runner: VoxtralRunner
) -> None:
    sounds = {name: warbling(3.0, seed=seed) for seed, name in enumerate("abcd")}
    house.open(*sounds)
    for at in range(0, 48_000, 16_000):
        for name, sound in sounds.items():
            house.now += 1.0
            house.hear(name, sound[at : at + 16_000])
            house.resting.park("abcd"["abcd".index(name) - 2], "host")
            house.settle()
    for name, sound in sounds.items():
        assert house.finish(name) == transcribe(runner, sound).text


def test_a_session_without_a_place_waits_for_one_and_the_longest_idle_makes_room(house: House) -> None:
    house.open("a", "b", "c")
    for name in "ab":
        house.hear(name, SOUND[:16_000])
        house.settle()
        house.now += 1.0
    house.resting.park("b", "host")
    house.hear("c", SOUND[:16_000])
    house.settle()
    house.hear("b", SOUND[16_000:32_000])
    house.settle()
    assert [house.sessions[name].state for name in "abc"] == [State.PARKED, State.WAITING, State.WAITING]


def test_a_newcomer_gets_the_place_of_whoever_idles_longest_and_all_say_what_each_would_alone(
    house: House, runner: VoxtralRunner
) -> None:
    sounds = {name: warbling(1.5, seed=seed) for seed, name in enumerate("abcd")}
    alone = {name: transcribe(runner, sound).text for name, sound in sounds.items()}
    house.open(*sounds)
    for name in sounds:
        house.now += 1.0
        house.hear(name, sounds[name][:12_000])
        house.settle()
    assert [house.sessions[name].away is None for name in "abcd"] == [False, False, True, True]
    for name in sounds:
        house.now += 1.0
        house.hear(name, sounds[name][12_000:])
        assert house.finish(name) == alone[name]


def test_a_newcomer_is_refused_while_all_places_are_at_work(house: House) -> None:
    house.open("a", "b", "c")
    house.refused["c"] = ""
    for name in "ab":
        house.hear(name, SOUND[:48_000])
    house.round()
    house.hear("c", SOUND[:48_000])
    house.listen()
    house.speech.run([work for work in house.speech.offers(house.now) if work.session == "c"], house.now)
    assert house.refused == {"c": "session_limit"}
    assert house.finish("a") == house.finish("b") != ""


# Requests that cannot be met.


def test_a_session_with_work_is_not_parked(house: House) -> None:
    house.open("a")
    house.hear("a", SOUND[:32_000])
    house.round()
    house.resting.park("a", "host")
    assert (house.parked("a").code, house.parked("a").tier) == ("session_busy", "device")
    house.settle()
    house.open("b")
    house.resting.park("b", "host")
    assert house.parked("b").code == "nothing_held"


def test_a_turn_longer_than_its_kept_audio_is_parked_but_not_dropped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.engine.runner.voxtral_realtime.RECOMPUTABLE_SAMPLES", 16_000)
    house.open("a")
    house.hear("a", SOUND[:64_000])
    house.settle()
    house.resting.park("a", "dropped")
    assert house.parked("a").code == "not_recomputable"
    house.resting.park("a", "host")
    assert house.parked("a").tier == "host"


def test_where_the_disk_refuses_the_session_is_dropped_and_nothing_is_lost(
    runner: VoxtralRunner, alone: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    house = House(runner, tmp_path / "file")
    house.open("a")
    house.hear("a", SOUND[:64_000])
    house.settle()
    house.resting.park("a", "disk")
    assert (house.parked("a").code, house.parked("a").tier) == ("hibernation_failed", "dropped")
    house.hear("a", SOUND[64_000:])
    assert house.finish("a") == alone
    house.close()


def test_a_file_that_vanished_is_made_up_for_by_computing_again(house: House, alone: str, tmp_path: Path) -> None:
    house.open("a")
    house.hear("a", SOUND[:64_000])
    house.settle()
    house.resting.park("a", "disk")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.unlink()
    house.hear("a", SOUND[64_000:])
    assert house.finish("a") == alone


def test_cancel_and_close_leave_no_parcel_and_no_file(house: House, runner: VoxtralRunner, tmp_path: Path) -> None:
    house.open("a", "b")
    for name in "ab":
        house.hear(name, SOUND[:32_000])
        house.settle()
        house.resting.park(name, "disk")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    house.sessions["a"].cancel(1)
    house._close("b", "closed")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert house.sessions["a"].state is State.WAITING


# Rules.


def test_rules_park_drop_and_close_as_time_goes_by_and_a_clock_that_jumps_back_harms_nothing(
    house: House, alone: str
) -> None:
    house.open("a")
    house.resting.rules = m.Retention(park_s=10, drop_s=20, close_s=30)
    house.hear("a", SOUND[:64_000])
    house.settle()
    assert house.resting.wait_s() == 10.0
    for now, state in ((9.0, State.WAITING), (10.0, State.PARKED), (-1e6, State.PARKED), (25.0, State.DROPPED)):
        house.now = now
        house.round()
        assert house.sessions["a"].state is state
    house.hear("a", SOUND[64_000:])
    assert house.finish("a") == alone
    house.now = 1e6
    house.round()
    assert house.out[-1] == m.Closed("a", "idle_timeout")
    assert house.resting.wait_s() is None


def test_a_budget_smaller_than_one_session_harms_no_session_that_speaks(house: House, alone: str) -> None:
    house.open("a")
    house.resting.rules = m.Retention(device_bytes=1, host_bytes=1)
    for at in range(0, len(SOUND), 30_000):
        for begin in range(at, min(at + 30_000, len(SOUND)), 3_000):
            # Between the pieces of what is being said it waits, and yet it is never put away and computed anew.
            house.now += 0.2
            house.hear("a", SOUND[begin : begin + 3_000])
            house.settle()
            assert house.sessions["a"].state is State.WAITING
        house.now += house.resting.wait_s() or 0.0
        house.round()
        assert house.sessions["a"].state is State.DROPPED
    assert house.finish("a") == alone


# Memory that is full.


def full(nbytes: int) -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


def test_where_host_memory_is_full_the_session_is_dropped_and_nothing_is_lost(
    house: House, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open("a")
    house.hear("a", SOUND[:64_000])
    house.settle()
    with monkeypatch.context() as patch:
        patch.setattr("sayso.engine.packing.room", full)
        house.resting.park("a", "disk")
    assert (house.parked("a").code, house.parked("a").tier) == ("out_of_memory", "dropped")
    house.hear("a", SOUND[64_000:])
    assert house.finish("a") == alone


def test_where_host_memory_is_full_what_cannot_be_computed_again_stays_and_makes_no_place(
    house: House, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.engine.runner.voxtral_realtime.RECOMPUTABLE_SAMPLES", 16_000)
    house.open("a")
    house.hear("a", SOUND[:64_000])
    house.settle()
    with monkeypatch.context() as patch:
        patch.setattr("sayso.engine.packing.room", full)
        house.resting.park("a", "host")
        assert (house.parked("a").code, house.parked("a").tier) == ("out_of_memory", "device")
        assert not house.resting.make_place()
    house.hear("a", SOUND[64_000:])
    assert house.finish("a") == alone


def test_a_session_that_finds_no_memory_to_come_back_fails_alone_and_leaves_its_place(
    house: House, runner: VoxtralRunner, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.open("a", "b")
    house.refused["a"] = ""
    for name in "ab":
        house.hear(name, SOUND[:64_000])
        house.settle()
    house.resting.park("a", "host")
    with monkeypatch.context() as patch:
        patch.setattr("sayso.engine.packing._views", full)
        house.hear("a", SOUND[64_000:])
        house.round()
    assert house.refused == {"a": "out_of_memory"}
    assert runner._model.seats == 1
    house.hear("b", SOUND[64_000:])
    assert house.finish("b") == alone


def test_after_a_clock_that_jumped_back_a_disk_that_failed_is_tried_again(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.now = 1e6
    house.open("a")
    house.hear("a", SOUND[:32_000])
    house.settle()
    house.resting.rules = m.Retention(hibernate_s=1.0)
    with monkeypatch.context() as patch:
        patch.setattr("sayso.engine.parcel.room", full)
        house.resting.park("a", "disk")
    assert house.parked("a").code == "hibernation_failed"
    house.hear("a", SOUND[32_000:64_000])
    house.settle()
    house.now = house.heard_at["a"] = 0.0
    house.now += 1.0
    house.round()
    assert house.sessions["a"].state is State.HIBERNATED


# What the operating system sees.


@pytest.mark.skipif(not hasattr(psutil.Process(), "memory_full_info"), reason="no figures of memory here")
@pytest.mark.parametrize("tier", ["dropped", "disk"])
def test_memory_that_the_ledger_says_was_freed_has_left_the_process(tmp_path: Path, tier: m.Tier) -> None:
    bound_heap()
    sizes = Sizes(encoder_window=750, encoder_layers=8, encoder_heads=8, encoder_head_width=64, window=512)
    house = House(runner_of(build(tmp_path / "wide", sizes), places=2), tmp_path)
    house.open("warm", "a")
    for name in ("warm", "a"):
        house.hear(name, warbling(8.0))
        house.settle()
        if name == "warm":
            house.resting.park(name, tier)
    process = psutil.Process()
    give_back_memory()
    before, held = process.memory_info().rss, house.sessions["a"].ledger(0, 0).kv
    house.resting.park("a", tier)
    give_back_memory()
    assert held > 10_000_000
    assert before - process.memory_info().rss >= 0.95 * held
    house.close()
