"""One step for all kinds of sessions: speech and text under one scheduler and one budget of memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scripted_runner import ScriptedRunner, greedy
from scripted_streams import LoudnessDetector, RangeRunner, loud, quiet
from speech import pcm16
from tiny_causal import build as causal
from tiny_voxtral import build as voxtral
from tiny_voxtral import warbling
from voxtral_turns import Turn, run, runner_of

from sayso.engine import catalog
from sayso.engine.blocks import Budget
from sayso.engine.errors import EngineError
from sayso.engine.loading import share_memory
from sayso.engine.messages import Flushed, Message, SessionOptions, Text
from sayso.engine.ring_cache import Slots
from sayso.engine.runner.causal import CausalRunner
from sayso.engine.runner.voxtral_realtime import VoxtralRunner
from sayso.engine.sampling import SamplingParams
from sayso.engine.scheduler import Scheduler
from sayso.engine.session import Session
from sayso.engine.speech_worker import SpeechWorker
from sayso.engine.token_session import Chunk, Output
from sayso.engine.token_worker import TokenWorker
from sayso.engine.worker import step

SCHEDULER = Scheduler(batch=4, batch_cost_ms=400.0, step_tokens=8)


class Both:
    """Speech sessions and token sessions of one engine."""

    def __init__(self) -> None:
        self.heard = RangeRunner(fails_on=0.9)
        self.failed: list[str] = []
        self.sessions: dict[str, Session] = {}
        self.speech = SpeechWorker(self.sessions, self._fail)
        self.speech.runner = self.heard  # type: ignore[assignment]
        self.read = ScriptedRunner()
        self.text = TokenWorker(self.read)
        self.said: dict[str, list[Message]] = {}
        self.outputs: dict[str, list[int]] = {}
        self.now = 0.0

    def _fail(self, session: Session, code: str, message: str) -> None:
        self.failed.append(session.name)
        del self.sessions[session.name]

    def speak(self, name: str, loudness: float = 1.0) -> None:
        """A whole turn of one utterance."""
        session = Session(name, 0, SessionOptions(), self.heard.stream)
        self.sessions[name] = session
        for samples in (quiet(20), loud(20) * loudness, quiet(40)):
            session.receive(0, pcm16(samples))
        session.flush(0, 1)
        frames = session.examine(1000)
        [probabilities], _ = LoudnessDetector().run([frames], [None])
        session.heard(probabilities)

    def ask(self, name: str, tokens: Sequence[int], most: int) -> None:
        self.text.open(name, name, self.now)
        self.text.push(name, Chunk(tuple(tokens), SamplingParams(max_tokens=most, temperature=0)), self.now)
        self.text.end_input(name, self.now)

    def run(self) -> None:
        for _ in range(200):
            self.now += 0.01
            ran = step(SCHEDULER, (self.speech, self.text), self.now)
            for name, session in self.sessions.items():
                self.said.setdefault(name, []).extend(session.results())
            for name, event in self.text.take():
                if isinstance(event, Output) and event.token is not None:
                    self.outputs.setdefault(name, []).append(event.token)
            if not ran:
                return
        raise AssertionError("there is always something to do")


def test_speech_and_text_sessions_of_one_engine_all_get_their_turn() -> None:
    both = Both()
    for number in range(3):
        both.ask(f"text {number}", range(number, number + 30), 5)
        both.speak(f"speech {number}")
    both.run()
    for number in range(3):
        assert both.outputs[f"text {number}"] == greedy(both.read, tuple(range(number, number + 30)), 5)
        kinds = [type(message) for message in both.said[f"speech {number}"]]
        assert kinds == [Text, Flushed]
    assert both.heard.batches == [3]


def test_a_fault_of_one_kind_does_not_touch_the_other() -> None:
    both = Both()
    both.ask("text", range(30), 5)
    both.speak("bad", 1.9)
    both.speak("good")
    both.run()
    assert both.failed == ["bad"]
    assert [type(message) for message in both.said["good"]] == [Text, Flushed]
    assert both.outputs["text"] == greedy(both.read, tuple(range(30)), 5)


def test_nothing_to_do_is_no_step() -> None:
    both = Both()
    assert step(SCHEDULER, (both.speech, both.text), 0.0) == 0


def test_rings_and_pages_are_accounted_together() -> None:
    budget = Budget(1000)
    slots = Slots(4, 300, budget)
    first, second = slots.take(), slots.take()
    assert (first, second, slots.used, budget.taken_bytes) == (0, 1, 2, 600)
    budget.take(200)
    with pytest.raises(EngineError) as caught:
        slots.take()
    assert caught.value.code == "session_limit"
    slots.give_back(first)
    assert slots.take() == 0


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> VoxtralRunner:
    return runner_of(voxtral(tmp_path_factory.mktemp("voxtral")), places=3)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> CausalRunner:
    files = catalog.resolve(str(causal(tmp_path_factory.mktemp("causal"))))
    return CausalRunner.load(files, "cpu", "float32", cache_bytes=1 << 22, block_tokens=8)


class Shared:
    """A real Voxtral and a real text model that may hold a bit more than one place for speech together."""

    def __init__(self, heard: VoxtralRunner, read: CausalRunner, more: int) -> None:
        self.budget = Budget(heard.place_bytes + more * read.block_bytes)
        heard.draw_on(self.budget)
        self.heard, self.text = heard, TokenWorker(read, budget=self.budget)
        self.now = 0.0

    def prompt(self, name: str, length: int, most: int) -> None:
        if self.text.session(name) is None:
            self.text.open(name, name, self.now)
        params = SamplingParams(max_tokens=most, temperature=0, ignore_eos=True)
        self.text.push(name, Chunk(tuple(range(3, 3 + length)), params), self.now)

    def write(self) -> list[int]:
        """What the text sessions say until they have nothing to do."""
        while step(SCHEDULER, (self.text,), self.now):
            self.now += 0.01
            assert self.budget.taken_bytes <= self.budget.total_bytes
        events = [event for _, event in self.text.take()]
        return [event.token for event in events if isinstance(event, Output) and event.token is not None]

    def speak(self) -> Turn:
        turn = Turn(self.heard)
        turn.hear(warbling(1.0))
        run(self.heard, [turn])
        assert self.budget.taken_bytes <= self.budget.total_bytes
        return turn


def test_a_speech_model_and_a_text_model_never_hold_more_together_than_there_is(
    heard: VoxtralRunner, read: CausalRunner
) -> None:
    shared = Shared(heard, read, more=4)
    first = shared.speak()
    with pytest.raises(EngineError, match="no memory") as refusal:
        shared.speak()
    assert refusal.value.code == "session_limit"
    # There are pages for 32 positions beside the place; a longer prompt waits until that is given back.
    shared.prompt("short", 20, 4)
    assert len(shared.write()) == 4
    shared.text.end("short")
    shared.prompt("long", 60, 4)
    assert shared.write() == []
    first.stream.close()
    assert len(shared.write()) == 4
    assert shared.budget.taken_bytes == shared.text.blocks.used * read.block_bytes > 0


def test_a_text_session_that_waits_makes_room_for_speech_and_goes_on_afterwards(
    heard: VoxtralRunner, read: CausalRunner
) -> None:
    shared = Shared(heard, read, more=4)
    shared.prompt("alone", 60, 4)
    shared.prompt("alone", 9, 12)
    expected = shared.write()
    shared.text.end("alone")
    shared.prompt("text", 60, 4)
    said = shared.write()
    turn = shared.speak()
    assert shared.text.preemptions == 1
    shared.prompt("text", 9, 12)
    assert shared.write() == []
    turn.stream.close()
    assert said + shared.write() == expected


def test_one_speech_session_gets_in_however_little_memory_is_free(heard: VoxtralRunner) -> None:
    assert share_memory(heard, 100 * heard.place_bytes).total_bytes == 80 * heard.place_bytes
    budget = share_memory(heard, heard.place_bytes // 3)
    first, second = Turn(heard), Turn(heard)
    for turn in (first, second):
        turn.hear(warbling(1.0))
    run(heard, [first])
    with pytest.raises(EngineError) as refusal:
        run(heard, [second])
    assert refusal.value.code == "session_limit"
    first.stream.close()
    assert budget.taken_bytes == 0
    assert share_memory(RangeRunner(), 1000).total_bytes == 800  # type: ignore[arg-type]


def test_speech_takes_nothing_from_a_text_session_that_is_at_work(heard: VoxtralRunner, read: CausalRunner) -> None:
    shared = Shared(heard, read, more=4)
    shared.prompt("text", 60, 40)
    for _ in range(12):
        step(SCHEDULER, (shared.text,), shared.now)
    with pytest.raises(EngineError) as refusal:
        shared.speak()
    assert refusal.value.code == "session_limit"
    assert shared.text.preemptions == 0
    assert len(shared.write()) == 40
