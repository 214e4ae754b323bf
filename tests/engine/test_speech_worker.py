"""Faults of a speech model in a step of several sessions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from scripted_streams import LoudnessDetector, RangeRunner, RangeStream, loud, quiet
from speech import pcm16

from sayso.engine.errors import EngineError
from sayso.engine.messages import SessionOptions, Text
from sayso.engine.session import Session
from sayso.engine.speech_worker import SpeechWorker


class Tight(RangeRunner):
    """Has no memory for more than so many sessions in a step."""

    def __init__(self, most: int, error: Exception) -> None:
        super().__init__()
        self.most, self.error = most, error

    def run(self, streams: Sequence[RangeStream]) -> None:
        if len(streams) > self.most:
            raise self.error
        super().run(streams)


class Hall:
    """Sessions that all have the same work at the same time."""

    def __init__(self, runner: RangeRunner, names: Sequence[str]) -> None:
        self.sessions: dict[str, Session] = {}
        self.failed: dict[str, tuple[str, str]] = {}
        self.worker = SpeechWorker(self.sessions, self._fail)
        self.worker.runner = runner  # type: ignore[assignment]
        for name in names:
            session = Session(name, 0, SessionOptions(), runner.stream)
            self.sessions[name] = session
            for samples in (quiet(20), loud(20), quiet(40)):
                session.receive(0, pcm16(samples))
            session.flush(0, 1)
            frames = session.examine(1000)
            [probabilities], _ = LoudnessDetector().run([frames], [None])
            session.heard(probabilities)

    def _fail(self, session: Session, code: str, message: str) -> None:
        self.failed[session.name] = code, message
        del self.sessions[session.name]

    def run(self) -> set[str]:
        """One step of all; who has text afterwards."""
        self.worker.run(self.worker.offers(0.0), 0.0)
        return {name for name, each in self.sessions.items() if any(isinstance(e, Text) for e in each.results())}


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), EngineError("out_of_memory", "full")]
)
def test_when_memory_runs_out_the_newest_session_is_refused_and_the_others_go_on(error: Exception) -> None:
    hall = Hall(Tight(2, error), ["first", "second", "third", "fourth"])
    assert hall.run() == {"first", "second"}
    assert {name: code for name, (code, _) in hall.failed.items()} == {
        "fourth": "out_of_memory",
        "third": "out_of_memory",
    }
    assert all("others go on" in text for _, text in hall.failed.values())


def test_one_session_alone_for_which_there_is_no_memory_is_told_so() -> None:
    hall = Hall(Tight(0, MemoryError()), ["only"])
    assert hall.run() == set()
    assert hall.failed["only"][0] == "out_of_memory"


def test_another_fault_ends_only_the_sessions_that_have_it_and_says_nothing_of_the_machine() -> None:
    hall = Hall(Tight(0, OSError(5, "Input/output error", "/home/ada/model.bin")), ["first", "second"])
    assert hall.run() == set()
    code, text = hall.failed["first"]
    assert code == "inference_failed"
    assert "Input/output error" in text
    assert "ada" not in text
