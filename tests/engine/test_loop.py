"""The loop with streams that need no model, over a real pipe: sessions, faults, refusals, order."""

import os
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scripted_streams import LoudnessDetector, RangeRunner, RangeStream, loud, quiet
from speech import pcm16

from sayso.engine import messages as m
from sayso.engine.channel import Channel
from sayso.engine.errors import EngineError
from sayso.engine.framing import Decoder, encode
from sayso.engine.loading import Loaded
from sayso.engine.loop import Engine
from sayso.engine.options import Limits
from sayso.engine.parcel import Parcel
from sayso.engine.runner.base import Before, Holding, Utterance

WAIT_S = 20.0


class Running:
    """An engine in a thread of this process."""

    def __init__(self, runner: RangeRunner, limits: Limits) -> None:
        theirs_read, self._write = os.pipe()
        self._read, theirs_write = os.pipe()
        self._fds = [theirs_read, theirs_write, self._read]
        self.channel = Channel(theirs_read, theirs_write, m.Down, 10**6)
        self.channel.leave()
        self.channel.start()

        def load(message: m.Load) -> Loaded:
            if message.model == "missing":
                raise EngineError("model_not_found", "There is no such model.")
            if message.model == "broken":
                raise ValueError("unexpected")
            return Loaded(runner, LoudnessDetector(), "cpu", 1, 5)  # type: ignore[arg-type]

        self._thread = threading.Thread(target=Engine(self.channel, limits, load).run)
        self._thread.start()
        self._decoder: Decoder[m.Message] = Decoder(m.Up)
        self.received: list[m.Message] = []

    def send(self, *messages: m.Message) -> None:
        for message in messages:
            os.write(self._write, encode(message))

    def audio(self, session: str, samples: np.ndarray) -> None:
        self.send(m.Audio(session, 0, pcm16(samples)))

    def until(self, matches: Callable[[m.Message], bool]) -> m.Message:
        """Read until a message matches; the test's own time limit bounds it."""
        while True:
            for message in self.received:
                if matches(message):
                    return message
            self.received += self._decoder.feed(os.read(self._read, 65536))

    def of(self, session: str) -> list[m.Message]:
        return [e for e in self.received if getattr(e, "session", None) == session]

    def close(self) -> None:
        os.close(self._write)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        # A reader that still runs would read from the next test's pipe, which gets the same number.
        assert self.channel.join(WAIT_S)
        for fd in self._fds:
            os.close(fd)


@pytest.fixture
def runner() -> RangeRunner:
    return RangeRunner(fails_on=0.9)


@pytest.fixture
def engine(runner: RangeRunner) -> Iterator[Running]:
    made = Running(runner, Limits(sessions=3))
    yield made
    made.close()


def test_sessions_are_refused_until_a_model_is_loaded(engine: Running) -> None:
    engine.send(m.Open("a"), m.Load("ranges"), m.Open("a"))
    engine.until(lambda e: isinstance(e, m.Opened))
    kinds = [(type(e).__name__, getattr(e, "code", "")) for e in engine.received if not isinstance(e, m.Memory)]
    assert kinds == [("Refused", "no_model"), ("Ready", ""), ("Opened", "")]


@pytest.mark.parametrize(("model", "code"), [("missing", "model_not_found"), ("broken", "load_failed")])
def test_a_model_that_cannot_be_loaded_is_a_coded_failure_and_another_can_be(
    engine: Running, model: str, code: str
) -> None:
    engine.send(m.Load(model), m.Load("ranges"))
    engine.until(lambda e: isinstance(e, m.Ready))
    failed = engine.received[0]
    assert isinstance(failed, m.Failed)
    assert (failed.session, failed.code) == (None, code)


def test_one_more_session_than_the_limit_or_a_name_twice_is_refused(engine: Running) -> None:
    engine.send(m.Load("ranges"), m.Open("a"), m.Open("b"), m.Open("a"), m.Open("c"), m.Open("d"), m.Close("a"))
    engine.send(m.Open("d"))
    engine.until(lambda e: e == m.Opened("d"))
    refused = [(e.session, e.code) for e in engine.received if isinstance(e, m.Refused)]
    assert refused == [("a", "session_exists"), ("d", "session_limit")]
    assert m.Closed("a", "closed") in engine.received


def test_audio_comes_out_as_text_before_its_marker(engine: Running) -> None:
    engine.send(m.Load("ranges"), m.Open("a"))
    engine.audio("a", np.concatenate([loud(10), quiet(40)]))
    engine.send(m.Flush("a", 0, 5))
    engine.until(lambda e: isinstance(e, m.Flushed))
    assert [type(e).__name__ for e in engine.of("a")] == ["Opened", "Text", "Flushed"]


def test_a_session_whose_step_raises_fails_alone(engine: Running, runner: RangeRunner) -> None:
    engine.send(m.Load("ranges"), m.Open("good"), m.Open("bad"), m.Open("fine"))
    for name, samples in (("good", loud(10)), ("bad", loud(10) * 1.9), ("fine", loud(10))):
        engine.audio(name, samples)
    for name in ("good", "bad", "fine"):
        engine.send(m.Flush(name, 0, 1))
    for name in ("good", "fine"):
        engine.until(lambda e, name=name: isinstance(e, m.Flushed) and e.session == name)
    engine.until(lambda e: e == m.Closed("bad", "failed"))
    failed = [e for e in engine.received if isinstance(e, m.Failed)]
    assert [(e.session, e.code) for e in failed] == [("bad", "inference_failed")]
    assert "cannot be heard" in failed[0].message


def test_bad_audio_fails_its_session_and_late_messages_to_it_are_nothing(engine: Running) -> None:
    engine.send(m.Load("ranges"), m.Open("a"), m.Open("b"), m.Audio("a", 0, b"odd"), m.Flush("a", 0, 1))
    engine.send(m.Flush("b", 0, 2))
    engine.until(lambda e: isinstance(e, m.Flushed))
    assert [type(e).__name__ for e in engine.of("a")] == ["Opened", "Failed", "Closed"]


def test_unloading_closes_every_session_with_its_reason(engine: Running) -> None:
    engine.send(m.Load("ranges"), m.Open("a"), m.Open("b"), m.Unload(), m.Open("c"))
    engine.until(lambda e: isinstance(e, m.Refused))
    assert m.Closed("a", "unloaded") in engine.received
    assert m.Closed("b", "unloaded") in engine.received


def test_stop_closes_the_sessions_and_ends_the_loop(runner: RangeRunner) -> None:
    engine = Running(runner, Limits())
    engine.send(m.Load("ranges"), m.Open("a"), m.Stop())
    engine.until(lambda e: e == m.Closed("a", "stopped"))
    engine.close()


def test_sessions_with_work_at_the_same_time_share_a_step(engine: Running, runner: RangeRunner) -> None:
    engine.send(m.Load("ranges"), m.Open("a"), m.Open("b"), m.Open("c"))
    engine.until(lambda e: e == m.Opened("c"))
    os.write(
        engine._write,
        b"".join(
            encode(message) for name in "abc" for message in (m.Audio(name, 0, pcm16(loud(8))), m.Flush(name, 0, 1))
        ),
    )
    for name in "abc":
        engine.until(lambda e, name=name: isinstance(e, m.Flushed) and e.session == name)
    assert 3 in runner.batches


def test_a_session_that_holds_nothing_is_not_parked_and_rules_of_retention_count_at_once(engine: Running) -> None:
    engine.send(m.Load("ranges"), m.Open("a"), m.Park("a"))
    parked = engine.until(lambda e: isinstance(e, m.Parked))
    assert isinstance(parked, m.Parked)
    assert (parked.session, parked.tier, parked.code) == ("a", "device", "nothing_held")
    engine.send(m.Retain(m.Retention(close_s=0.01)))
    engine.until(lambda e: e == m.Closed("a", "idle_timeout"))


class RestableStream(RangeStream):
    """One that can be put away."""

    recomputable = True
    away = False

    @property
    def holding(self) -> Holding:
        return Holding(kv=0 if self.away else 1, features=2)

    def pack(self) -> Parcel:
        raise NotImplementedError

    def unpack(self, parcel: Parcel | None) -> None:
        self.away = False

    def forget(self) -> None:
        self.away = True


def test_the_ledger_tells_what_the_rules_put_away_after_everything_fell_silent(
    engine: Running, runner: RangeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stream(utterance: Utterance, options: m.SessionOptions, before: Before) -> RangeStream:
        return RestableStream(utterance)

    def told(message: m.Message, *states: str) -> bool:
        return isinstance(message, m.Memory) and any(each.state in states for each in message.sessions)

    monkeypatch.setattr(runner, "stream", stream)
    # Later than the report on its sound, which is the last message that comes.
    engine.send(m.Load("ranges", retention=m.Retention(drop_s=1.2)), m.Open("a"))
    engine.audio("a", loud(20))
    engine.until(lambda e: told(e, "active", "waiting", "dropped"))
    engine.until(lambda e: told(e, "dropped"))
