"""The open turn when its engine is lost: nothing that was said is missing from the text, and nothing is there twice."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from sayso.engine import messages as m
from sayso.server.turn import MOST_REPLAYS, Turn

MS = 16
"""Samples."""


@dataclass(frozen=True)
class Spoken:
    text: str
    start_ms: int
    end_ms: int


class Engine:
    """Hears every word that is whole in what it was given since it was started, a little late."""

    def __init__(self, spoken: list[Spoken], base_ms: int) -> None:
        self.spoken, self.base_ms = spoken, base_ms
        self.heard = 0
        self.told: set[Spoken] = set()

    def text(self, until_ms: int) -> list[m.Text]:
        out = []
        for word in self.spoken:
            if word in self.told or word.start_ms < self.base_ms or word.end_ms > until_ms:
                continue
            text = f" {word.text}" if self.told else word.text
            self.told.add(word)
            start, end = word.start_ms - self.base_ms, word.end_ms - self.base_ms
            out.append(m.Text("s", 0, text, True, start, end, (m.Word(text, start, end, 0.5),), tokens=1))
        return out


class Talk:
    """Words said one after another into a turn, with an engine that may be lost at any time."""

    def __init__(self, lengths: list[tuple[int, int]], vocabulary: int, keep_s: float = 300.0) -> None:
        self.spoken: list[Spoken] = []
        at = 0
        for number, (pause, length) in enumerate(lengths):
            at += pause
            self.spoken.append(Spoken(f"word{number * 7 % vocabulary}", at, at + length))
            at += length
        self.end_ms = at
        self.turn = Turn(keep_s=keep_s)
        self.engine = Engine(self.spoken, 0)
        self.at_ms = 0
        self.pieces: list[str] = []
        self.words: list[tuple[str, int, int]] = []

    def say(self, ms: int) -> None:
        ms = min(ms, self.end_ms - self.at_ms)
        if ms:
            self.turn.add(bytes(2 * MS * ms))
        self.at_ms += ms

    def run(self, lag_ms: int) -> None:
        self.turn.take()
        for text in self.engine.text(self.at_ms - lag_ms):
            self.take(self.turn.hear(text))
            self.turn.confirm(text)

    def fall_silent(self, lag_ms: int) -> None:
        """The engine tells that nobody speaks before the next word that it has not told."""
        self.run(lag_ms)
        told = [word.end_ms for word in self.engine.told]
        at_ms = max(told, default=self.engine.base_ms) - self.engine.base_ms
        quiet = m.Text("s", 0, "", True, at_ms, at_ms)
        self.take(self.turn.quiet(quiet))
        self.turn.confirm(quiet)

    def take(self, heard) -> None:
        if heard.piece:
            self.pieces.append(heard.piece)
        self.words += [(word.text.strip(), word.start_ms, word.end_ms) for word in heard.words]

    def lose(self) -> int | None:
        before = self.turn.waiting
        gone = self.turn.rewind()
        base = self.turn.samples - self.turn.waiting
        assert self.turn.waiting >= before
        self.engine = Engine(self.spoken, base // MS)
        return gone

    def end(self) -> str:
        self.say(self.end_ms)
        self.run(0)
        self.take(self.turn.rest())
        return self.turn.text


lengths = st.lists(st.tuples(st.integers(20, 900), st.integers(100, 700)), min_size=1, max_size=60)
steps = st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 2_500), st.integers(0, 3)), max_size=40)


@given(lengths, st.integers(8, 60), steps)
def test_whenever_the_engine_is_lost_the_text_is_as_if_it_were_not(
    lengths: list[tuple[int, int]], vocabulary: int, steps: list[tuple[int, int, int]]
) -> None:
    talk = Talk(lengths, vocabulary)
    losses = 0
    for ms, lag_ms, what in steps:
        talk.say(ms)
        confirmed = talk.turn.confirmed_ms
        if what == 1:
            talk.fall_silent(lag_ms)
        elif what:
            talk.run(lag_ms)
        elif losses < MOST_REPLAYS:
            assert talk.lose() == 0
            losses += 1
        losses = 0 if talk.turn.confirmed_ms > confirmed else losses
    expected = " ".join(word.text for word in talk.spoken)
    assert talk.end() == expected
    assert "".join(talk.pieces) == expected
    assert talk.words == [(word.text, word.start_ms, word.end_ms) for word in talk.spoken]


def test_a_pause_within_what_is_replayed_does_not_let_through_what_is_shown_already() -> None:
    talk = Talk([(100, 400)] * 6 + [(1_500, 400)] + [(100, 400)] * 20, 50)
    talk.say(7_000)
    talk.run(0)
    assert talk.lose() == 0
    talk.say(100)
    talk.fall_silent(4_000)
    assert talk.turn.text
    assert talk.end() == " ".join(word.text for word in talk.spoken)


def heard_at(at_ms: int, *texts: str, base_ms: int = 0) -> list[m.Text]:
    """Words of half a second each, as an engine says them whose turn began at ``base_ms``."""
    out = []
    for number, text in enumerate(texts):
        start = at_ms + 500 * number - base_ms
        word = m.Word(f" {text}", start, start + 400, 0.5)
        out.append(m.Text("s", 0, word.text, True, start, start + 400, (word,), tokens=1))
    return out


def replayed(shown: list[m.Text], at_ms: int, *again: str) -> str:
    """The text of a turn of 20 s whose engine is lost after ``shown``; the next one hears other words from then on."""
    turn = Turn([bytes(2 * 16_000 * 20)])
    turn.take()
    for text in shown:
        turn.hear(text)
        turn.confirm(text)
    assert turn.rewind() == 0
    turn.take()
    for text in heard_at(at_ms, *again, base_ms=turn.time_ms(0)):
        turn.hear(text)
    turn.rest()
    return turn.text.strip()


def test_words_that_a_replay_hears_otherwise_are_not_there_twice() -> None:
    shown = heard_at(0, "one", "two", "three", "four", "five", "six")
    again = ("free", "for", "fife", "sex", "seven", "eight", "nine", "ten")
    assert replayed(shown, 1_000, *again) == "one two three four five six seven eight nine ten"


def test_words_behind_those_that_were_shown_are_kept_when_the_replay_misses_all_of_them() -> None:
    shown = heard_at(0, "one", "two", "three", "four")
    again = ("ever", "tried", "ever", "failed", "no", "matter", "two")
    assert replayed(shown, 9_000, *again) == "one two three four ever tried ever failed no matter two"


def test_what_is_kept_does_not_grow_with_the_turn() -> None:
    talk = Talk([(100, 400)] * 400, 50)
    for _ in range(200):
        talk.say(1000)
        talk.run(500)
        assert talk.turn.kept_bytes <= 10 * 32_000


def test_a_turn_in_which_nothing_comes_out_keeps_its_newest_audio() -> None:
    talk = Talk([(100_000, 100)], 50, keep_s=10)
    for _ in range(50):
        talk.say(1000)
        talk.turn.take()
    assert talk.turn.kept_bytes == 10 * 32_000
    assert talk.lose() == 40_000


def test_tentative_text_of_a_replay_goes_on_behind_what_was_sent() -> None:
    talk = Talk([(100, 400)] * 12, 50)
    talk.say(5_000)
    talk.run(0)
    shown = talk.turn.text
    talk.lose()
    talk.turn.take()
    assert talk.turn.guess(shown + " and more") == " and more"


def test_speech_that_was_told_before_a_replay_is_not_told_again() -> None:
    talk = Talk([(100, 400)] * 12, 50)
    talk.say(5_000)
    assert talk.turn.tells_speech(100)
    assert talk.turn.tells_speech(3_000)
    talk.turn.take()
    talk.lose()
    assert not talk.turn.tells_speech(100)
    assert not talk.turn.tells_speech(3_000)
    assert talk.turn.tells_speech(3_001)


def test_hours_of_silence_are_not_kept() -> None:
    talk = Talk([(100, 400)] * 3 + [(10_000_000, 100)], 50)
    talk.say(10_000)
    talk.run(0)
    before = talk.turn.text
    for second in range(60):
        talk.say(10_000)
        talk.turn.take()
        told = m.Text("s", 0, "", True, 10_000 * second, 10_000 * second)
        assert not talk.turn.quiet(told).piece
        talk.turn.confirm(told)
        assert talk.turn.kept_bytes <= 31 * 32_000
    assert talk.lose() == 0
    assert talk.turn.text == before
