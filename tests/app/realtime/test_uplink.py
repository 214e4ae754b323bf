"""The uplink against a server that is played here: whatever is dropped, and when, nothing is doubled or lost unseen."""

from __future__ import annotations

import base64
import itertools
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.app.commands.other_text import OtherText
from sayso.app.realtime.events import TurnDone, TurnLost, TurnStable, TurnTentative, TurnWord, TurnWords
from sayso.app.realtime.uplink import Hold, Reconnect, Uplink, UplinkEvent
from sayso.app.realtime.wire import Finished
from sayso.server.protocol.events import (
    Alternatives,
    Append,
    Commit,
    Delta,
    EngineState,
    Error,
    Marker,
    Partial,
    WireAlternative,
    WireWord,
    Words,
)

WORD = 1600
"""Samples of one word: every sample of word n has the value n, so that a played server can read it back."""


def speech(first: int, count: int) -> bytes:
    return np.repeat(np.arange(first, first + count, dtype="<i2"), WORD).tobytes()


@dataclass
class PlayedServer:
    """Hears one word in each 100 ms and says it when it is asked to; knows one turn at a time, as real ones do."""

    sayso: bool
    times: bool = False
    """Whether it tells when each word was said."""
    open: bool = False
    final: bool = False
    audio: list[int] = field(default_factory=list)
    said: int = 0
    timed: int = 0
    marked: int = 0
    _known: tuple[tuple[int, bool], list[tuple[str, int, int]]] = ((-1, False), [])

    def take(self, message: object) -> None:
        match message:
            case Commit(final=False):
                assert not self.open, "a turn was started inside another"
                self.open, self.final, self.audio, self.said, self.timed, self.marked = True, False, [], 0, 0, 0
                self._known = ((-1, False), [])
            case Commit(final=True):
                assert self.open
                assert not self.final
                self.final = True
            case Append(audio):
                assert self.open
                assert not self.final, "audio was sent behind the end of its turn"
                self.audio += np.frombuffer(base64.b64decode(audio), "<i2").tolist()

    def say(self) -> Delta | Words | Marker | Finished | None:
        """The next thing it has to say: a word, its time, its marker, or the end."""
        if not self.open:
            return None
        words = self._words()
        if self.sayso and self.times and self.timed < self.said:
            self.timed = self.said
            text, start, end = words[self.said - 1]
            return Words((WireWord(text, start // 16 + 20, end // 16 - 20, 0.9),))
        if self.sayso and self.marked < self.said:
            self.marked = self.said
            return Marker(words[self.said - 1][2] // 16)
        if self.said < len(words):
            self.said += 1
            return Delta(words[self.said - 1][0])
        if self.final:
            self.open = False
            return Finished("".join(text for text, _, _ in words))
        return None

    def _words(self) -> list[tuple[str, int, int]]:
        """All words heard to their end, with their samples; a word of which more than half is missing is not heard."""
        if self._known[0] == (len(self.audio), self.final):
            return self._known[1]
        edges = [0, *(np.flatnonzero(np.diff(self.audio)) + 1).tolist(), len(self.audio)]
        runs = [(start, end) for start, end in itertools.pairwise(edges) if end - start > WORD // 2]
        if runs and not self.final and runs[-1][1] == len(self.audio) and runs[-1][1] - runs[-1][0] < WORD:
            runs.pop()
        words = [(f"{' ' if n else ''}w{self.audio[start]}", start, end) for n, (start, end) in enumerate(runs)]
        self._known = ((len(self.audio), self.final), words)
        return words


class World:
    """One uplink, the server it talks to, and all that was told."""

    def __init__(self, keep_s: float = 300.0, times: bool = False) -> None:
        self.uplink = Uplink(keep_s)
        self.times = times
        self.told: dict[int, list[TurnWord]] = defaultdict(list)
        self.server: PlayedServer | None = None
        self.said: dict[int, int] = {}
        self.texts: dict[int, str] = defaultdict(str)
        self.done: dict[int, str] = {}
        self.lost_ms: dict[int, int] = defaultdict(int)
        self.open: int | None = None

    def note(self, events: list[UplinkEvent]) -> None:
        for event in events:
            match event:
                case TurnStable(turn, text):
                    assert turn not in self.done, "text came behind the end of its turn"
                    self.texts[turn] += text
                case TurnWords(turn, words):
                    self.told[turn] += words
                case TurnDone(turn, text):
                    assert turn not in self.done
                    self.done[turn] = text
                case TurnLost(turn, lost_ms):
                    self.lost_ms[turn] += lost_ms
                case Reconnect():
                    self.drop()
                case _:
                    pass

    def speak(self, words: int) -> None:
        if self.open is None:
            self.open = self.uplink.begin()
            self.said[self.open] = 0
        self.note(self.uplink.append(self.open, speech(self.said[self.open], words)))
        self.said[self.open] += words

    def stop(self) -> None:
        if self.open is not None:
            self.note(self.uplink.end(self.open))
            self.open = None

    def drop(self) -> None:
        self.server = None
        self.note(self.uplink.disconnected())

    def connect(self, sayso: bool) -> None:
        if self.server is not None:
            self.drop()
        self.server = PlayedServer(sayso, self.times)
        self.uplink.connected(sayso)

    def send(self, most: int) -> None:
        for _ in range(most):
            message = self.uplink.next_message()
            if message is None or self.server is None:
                assert message is None, "something was sent without a connection"
                return
            self.server.take(message)

    def hear(self, most: int) -> None:
        for _ in range(most):
            event = self.server.say() if self.server is not None else None
            if event is None:
                return
            self.note(self.uplink.received(event))

    def break_engine(self) -> None:
        """The engine dies: the open turn is lost to the server, which stays up."""
        if self.server is not None and self.server.open:
            self.server.open = False
            self.note(self.uplink.received(Error("The engine stopped.", "engine_failed", turn_lost=self.server.sayso)))
            self.uplink.resume()

    def finish(self) -> None:
        """All goes well from now on."""
        self.stop()
        if self.server is None:
            self.connect(sayso=True)
        while not self.uplink.is_idle:
            self.uplink.resume()
            self.send(50)
            self.hear(500)


@dataclass(frozen=True)
class Step:
    """Some speech, some traffic, and perhaps a mishap."""

    words: int
    stop: bool
    sent: int
    heard: int
    mishap: str


STEPS = st.lists(
    st.builds(
        Step,
        words=st.integers(0, 9),
        stop=st.booleans(),
        sent=st.integers(0, 6),
        heard=st.integers(0, 12),
        mishap=st.sampled_from(["", "", "", "drop", "sayso", "vllm", "break", "break"]),
    ),
    min_size=1,
    max_size=20,
)


def play(world: World, steps: list[Step]) -> None:
    world.connect(sayso=True)
    for step in steps:
        if step.words:
            world.speak(step.words)
        if step.stop:
            world.stop()
        world.send(step.sent)
        world.hear(step.heard)
        match step.mishap:
            case "drop":
                world.drop()
            case "break":
                world.break_engine()
            case "sayso" | "vllm":
                world.connect(step.mishap == "sayso")
    world.finish()


@settings(max_examples=150, deadline=None)
@given(STEPS, st.booleans())
def test_every_word_is_told_once_or_counted_as_lost(steps: list[Step], times: bool) -> None:
    world = World(times=times)
    play(world, steps)
    for turn, count in world.said.items():
        assert world.texts[turn] == world.done[turn]
        words = [int(word[1:]) for word in world.done[turn].split()]
        assert words == sorted(set(words)), "a word was doubled or out of order"
        missing = count - len(words)
        assert missing * 100 <= world.lost_ms[turn]
        if not world.lost_ms[turn]:
            assert words == list(range(count))


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_audio_beyond_the_bound_is_counted_as_lost_and_the_rest_is_told_once(steps: list[Step]) -> None:
    world = World(keep_s=2.0)
    play(world, steps)
    for turn, count in world.said.items():
        assert world.texts[turn] == world.done[turn]
        words = [int(word[1:]) for word in world.done[turn].split()]
        assert words == sorted(set(words))
        assert (count - len(words)) * 100 <= world.lost_ms[turn]


def test_kept_audio_never_exceeds_the_bound() -> None:
    world = World(keep_s=2.0)
    for _ in range(10):
        world.speak(7)
        assert world.uplink.backlog_ms <= 2000
    assert world.lost_ms[1] == 7000 - world.uplink.backlog_ms


def test_confirmed_audio_is_not_sent_again() -> None:
    world = World()
    world.connect(sayso=True)
    world.speak(20)
    world.send(20)
    world.hear(20)  # ten words and their markers
    world.connect(sayso=True)
    world.send(20)
    assert world.server is not None
    assert world.server.audio[0] == 10
    assert len(world.server.audio) == 10 * WORD


def test_only_done_confirms_audio_on_a_vllm_server() -> None:
    world = World()
    world.connect(sayso=False)
    world.speak(20)
    world.send(20)
    world.hear(20)
    world.connect(sayso=False)
    world.send(20)
    assert world.server is not None
    assert len(world.server.audio) == 20 * WORD


def test_the_next_turn_waits_for_the_end_of_the_one_before() -> None:
    world = World()
    world.connect(sayso=False)
    world.speak(3)
    world.stop()
    world.speak(2)
    world.stop()
    world.send(100)
    assert world.server is not None
    assert len(world.server.audio) == 3 * WORD
    world.hear(100)
    world.send(100)
    world.hear(100)
    assert world.done == {1: "w0 w1 w2", 2: "w0 w1"}


def test_a_turn_without_audio_ends_at_once_and_is_not_sent() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    assert uplink.next_message() is None
    assert uplink.end(turn) == [TurnDone(turn, "")]


def test_nothing_is_told_of_a_cancelled_turn_and_its_late_text_is_not_taken_for_the_next() -> None:
    world = World()
    world.connect(sayso=True)
    world.speak(3)
    world.send(10)
    world.hear(1)
    assert world.open is not None
    world.note(world.uplink.cancel(world.open))
    world.open = None
    world.speak(2)
    world.stop()
    for _ in range(3):
        world.send(10)
        world.hear(10)
    assert world.done == {2: "w0 w1"}
    assert world.texts == {1: "w0", 2: "w0 w1"}


def test_a_turn_that_fails_again_and_again_is_counted_as_lost_and_the_next_one_works() -> None:
    world = World()
    world.connect(sayso=True)
    world.speak(5)
    world.stop()
    for _ in range(4):
        world.send(10)
        world.break_engine()
    assert world.lost_ms == {1: 500}
    assert world.done == {1: ""}
    world.speak(2)
    world.finish()
    assert world.done[2] == "w0 w1"


def test_stable_text_survives_the_engine_and_goes_on_behind_it() -> None:
    world = World()
    world.connect(sayso=True)
    world.speak(8)
    world.send(10)
    world.hear(5)
    world.break_engine()
    world.finish()
    assert world.done == {1: "w0 w1 w2 w3 w4 w5 w6 w7"}
    assert not world.lost_ms


def test_the_tentative_text_is_cleared_when_the_connection_is_lost() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    uplink.next_message()
    assert uplink.received(Partial("w0 w1", 0, 200)) == [TurnTentative(turn, "w0 w1")]
    assert uplink.disconnected() == [TurnTentative(turn, "")]


def test_nothing_is_sent_while_the_engine_loads() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    uplink.received(EngineState("loading"))
    assert uplink.next_message() is None
    assert uplink.backlog_ms == 300
    uplink.received(EngineState("ready"))
    assert uplink.next_message() == Commit()


def test_an_engine_at_rest_is_sent_the_turn_that_wakes_it() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    uplink.received(EngineState("idle"))
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    assert uplink.next_message() == Commit()
    uplink.received(EngineState("starting"))
    assert uplink.next_message() is None
    uplink.received(EngineState("ready"))
    assert isinstance(uplink.next_message(), Append)


def test_a_lost_turn_is_held_until_the_engine_is_back() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    uplink.next_message()
    events = uplink.received(Error("The engine stopped.", "engine_failed", turn_lost=True))
    assert events == [TurnTentative(turn, ""), Hold(1.0)]
    uplink.received(EngineState("restarting"))
    uplink.resume()
    assert uplink.next_message() is None
    uplink.received(EngineState("ready"))
    assert uplink.next_message() == Commit()


def test_speech_that_the_server_has_lost_is_told_with_its_length_and_the_turn_goes_on() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    uplink.next_message()
    error = Error("2.5 seconds were lost.", "audio_lost", lost_ms=2500)
    assert uplink.received(error) == [TurnLost(turn, 2500, "audio_lost", "2.5 seconds were lost.")]
    assert uplink.next_message() is not None
    assert uplink.received(Error("Not yet.", "engine_loading")) == []


def test_an_error_of_a_vllm_server_asks_for_a_new_session() -> None:
    uplink = Uplink()
    uplink.connected(sayso=False)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 3))
    uplink.next_message()
    events = uplink.received(Error("", "processing_error"))
    assert Reconnect(1.0, "processing_error", "") in events


def test_a_replay_begins_some_words_early_and_each_word_is_timed_once_in_the_users_turn() -> None:
    world = World(times=True)
    world.connect(sayso=True)
    world.speak(100)
    world.send(100)
    world.hear(3 * 90)  # ninety words, their times and their markers
    world.connect(sayso=True)
    world.send(1)
    world.send(1)
    assert world.server is not None
    assert 30 <= world.server.audio[0] <= 70
    world.finish()
    assert world.done == {1: " ".join(f"w{index}" for index in range(100))}
    assert world.told[1] == [TurnWord(f"w{index}", index * 100 + 20, index * 100 + 80) for index in range(100)]


def test_a_done_without_deltas_gives_its_text() -> None:
    uplink = Uplink()
    uplink.connected(sayso=False)
    turn = uplink.begin()
    uplink.append(turn, speech(0, 1))
    uplink.end(turn)
    while uplink.next_message() is not None:
        pass
    assert uplink.received(Finished(" all of it")) == [TurnStable(turn, "all of it"), TurnDone(turn, "all of it")]


def test_text_that_comes_without_an_open_turn_is_ignored() -> None:
    uplink = Uplink()
    uplink.connected(sayso=True)
    assert uplink.received(Delta("late")) == []
    assert uplink.received(Finished("late")) == []


def test_text_is_not_doubled_when_the_start_of_what_is_replayed_is_no_longer_kept() -> None:
    world = World(keep_s=2.0)
    world.connect(sayso=False)
    for _ in range(10):
        world.speak(3)
        world.send(10)
        world.hear(10)
    world.connect(sayso=False)
    world.speak(3)
    world.finish()
    assert world.done == {1: " ".join(f"w{index}" for index in range(33))}
    assert world.lost_ms == {1: 2000}


def test_markers_are_understood_behind_a_gap_in_what_was_sent() -> None:
    world = World(keep_s=2.0)
    world.connect(sayso=True)
    world.speak(5)
    world.send(10)
    for _ in range(5):
        world.speak(10)  # nothing is sent meanwhile: the oldest is given up
    assert world.lost_ms[1] == 3500
    world.send(50)
    world.hear(2 * 12)  # twelve words of the twenty that were sent, and their markers
    world.connect(sayso=True)
    world.finish()
    assert world.done[1].split() == [f"w{index}" for index in (*range(5), *range(40, 55))]
    assert world.lost_ms[1] == 3500


def test_a_turn_that_the_server_ends_by_itself_goes_on_as_a_new_one() -> None:
    world = World()
    world.connect(sayso=False)
    world.speak(3)
    world.send(10)
    world.hear(10)
    assert world.server is not None
    world.server.final = True
    world.hear(1)
    world.speak(2)
    world.finish()
    assert world.done == {1: "w0 w1 w2 w3 w4"}


def test_nothing_is_cut_off_when_all_shown_words_lie_before_what_is_still_kept() -> None:
    world = World(keep_s=2.0)
    world.connect(sayso=False)
    for _ in range(2):
        world.speak(20)
        world.send(10)
        world.hear(20 if world.said[1] == 20 else 0)
    world.connect(sayso=False)
    world.finish()
    assert world.done[1].split() == [f"w{index}" for index in range(40)]


def test_shown_words_whose_audio_was_given_up_while_it_waited_are_not_doubled() -> None:
    world = World(keep_s=2.0)
    world.connect(sayso=False)
    world.speak(14)
    world.send(10)
    world.hear(11)
    world.drop()
    world.speak(7)
    world.finish()
    assert world.done[1].split() == [f"w{index}" for index in range(21)]


def told_others(*, again: bool) -> list[OtherText]:
    """What comes with a turn of which a server tells another text; ``again``: only of its second half."""
    uplink = Uplink()
    uplink.connected(sayso=True)
    turn = uplink.begin()
    uplink.append(turn, speech(1, 4))
    while uplink.next_message() is not None:
        pass
    if again:
        uplink.received(Delta("Stop."))
        uplink.received(Marker(200))
        uplink.disconnected()
        uplink.connected(sayso=True)
    uplink.end(turn)
    while uplink.next_message() is not None:
        pass
    uplink.received(Alternatives((WireAlternative("Pause.", 0.5),)))
    done = [event for event in uplink.received(Finished("Pies.")) if isinstance(event, TurnDone)]
    return [other for event in done for other in event.others]


def test_what_a_turn_may_have_been_instead_is_told_at_its_end() -> None:
    assert told_others(again=False) == [OtherText("Pause.", 0.5)]


def test_what_only_its_replayed_end_may_have_been_is_not_told() -> None:
    assert told_others(again=True) == []
