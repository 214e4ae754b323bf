"""One step for all kinds of sessions: speech and text under one scheduler and one budget of memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scripted_runner import ScriptedRunner, greedy
from scripted_streams import LoudnessDetector, RangeRunner, loud, quiet
from speech import pcm16

from sayso.engine.blocks import Budget
from sayso.engine.errors import EngineError
from sayso.engine.messages import Flushed, Message, SessionOptions, Text
from sayso.engine.ring_cache import Slots
from sayso.engine.sampling import SamplingParams
from sayso.engine.scheduler import Scheduler
from sayso.engine.session import Session, State
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
        session.become(State.WAITING)
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
