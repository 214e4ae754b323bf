"""Speech heard again after a lost connection, by a server that hears some words otherwise or not at all.

The desktop's replay and the server's own, after a lost engine, must give the same text for the same hearings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from sayso.app.realtime.events import TurnDone, TurnStable, TurnWords
from sayso.app.realtime.uplink import Uplink, UplinkEvent
from sayso.app.realtime.wire import Finished
from sayso.engine import messages as m
from sayso.server.protocol.events import Delta, Marker, WireWord, Words
from sayso.server.turn import Turn

MS = 16
"""Samples."""
TURN_MS = 30_000


@dataclass(frozen=True)
class Heard:
    """A word as a recogniser hears it, in ms of the user's turn; ``quiet`` is a pause up to ``end_ms`` instead."""

    text: str
    start_ms: int
    end_ms: int
    quiet: bool = False


def row(at_ms: int, *texts: str) -> list[Heard]:
    """Words of 0.4 s, two a second."""
    return [Heard(text, at_ms + 500 * n, at_ms + 500 * n + 400) for n, text in enumerate(texts)]


class Desktop:
    """An uplink with one turn that is whole, and what it tells."""

    def __init__(self) -> None:
        self.uplink = Uplink()
        self.text = ""
        self.done: str | None = None
        self.words: list[tuple[str, int, int]] = []
        self._turn = self.uplink.begin()
        self.uplink.append(self._turn, bytes(2 * MS * TURN_MS))
        self.uplink.end(self._turn)
        self._first = True
        self.connect()

    def connect(self) -> None:
        self.take(self.uplink.disconnected())
        self.uplink.connected(sayso=True)
        while self.uplink.next_message() is not None:
            pass
        self._first, self._heard = True, ""

    @property
    def base_ms(self) -> int:
        sending = self.uplink._sending
        assert sending is not None
        return sending.base // MS

    def hear(self, word: Heard) -> None:
        start, end = word.start_ms - self.base_ms, word.end_ms - self.base_ms
        if not word.quiet:
            text = word.text if self._first else f" {word.text}"
            self._first = False
            self._heard += text
            self.take(self.uplink.received(Delta(text)))
            self.take(self.uplink.received(Words((WireWord(text, start, end, 0.5),))))
        self.take(self.uplink.received(Marker(end)))

    def finish(self) -> None:
        self.take(self.uplink.received(Finished(self._heard)))

    def take(self, events: Sequence[UplinkEvent]) -> None:
        for event in events:
            match event:
                case TurnStable(_, text):
                    self.text += text
                case TurnWords(_, words):
                    self.words += [(word.text, word.start_ms, word.end_ms) for word in words]
                case TurnDone(_, text):
                    self.done = text


class Server:
    """The server's turn over the same hearings."""

    def __init__(self) -> None:
        self.turn = Turn([bytes(2 * MS * TURN_MS)])
        self.turn.take()
        self.words: list[tuple[str, int, int]] = []
        self._first = True

    def lose(self) -> None:
        assert self.turn.rewind() == 0
        self.turn.take()
        self._first = True

    def hear(self, word: Heard) -> None:
        base_ms = self.turn.time_ms(0)
        start, end = word.start_ms - base_ms, word.end_ms - base_ms
        text = word.text if self._first else f" {word.text}"
        if word.quiet:
            message = m.Text("s", 0, "", True, end, end)
            heard = self.turn.quiet(message)
        else:
            self._first = False
            message = m.Text("s", 0, text, True, start, end, (m.Word(text, start, end, 0.5),), tokens=1)
            heard = self.turn.hear(message)
        self.words += [(each.text.strip(), each.start_ms, each.end_ms) for each in heard.words]
        self.turn.confirm(message)


def replayed(shown: Sequence[Heard], *again: Heard) -> Desktop:
    """A desktop whose connection is lost after ``shown``; the next server hears other words."""
    desktop = Desktop()
    for word in shown:
        desktop.hear(word)
    desktop.connect()
    for word in again:
        desktop.hear(word)
    return desktop


def test_words_that_a_replay_hears_otherwise_are_not_there_twice() -> None:
    shown = row(0, "one", "two", "three", "four", "five", "six")
    desktop = replayed(shown, *row(1_000, "free", "for", "fife", "sex", "seven", "eight", "nine", "ten"))
    desktop.finish()
    assert desktop.done == desktop.text == "one two three four five six seven eight nine ten"
    assert [text for text, _, _ in desktop.words] == desktop.text.split()


def test_words_behind_those_that_were_shown_are_kept_when_the_replay_misses_all_of_them() -> None:
    shown = row(0, "one", "two", "three", "four")
    desktop = replayed(shown, *row(9_000, "ever", "tried", "ever", "failed", "no", "matter", "two"))
    desktop.finish()
    assert desktop.done == "one two three four ever tried ever failed no matter two"


def test_the_joint_waits_for_no_more_words_in_a_pause_behind_what_is_shown() -> None:
    shown = row(0, "one", "two", "three", "four")
    again = row(0, "one", "two", "three", "four", "five")
    desktop = replayed(shown, *again)
    assert desktop.text == "one two three four"
    desktop.hear(Heard("", 0, 3_000, quiet=True))
    assert desktop.text == "one two three four five"
    early = replayed(shown, *again[:2], Heard("", 0, 1_200, quiet=True))
    assert early.text == "one two three four"
    for word in again[2:]:
        early.hear(word)
    early.finish()
    assert early.done == "one two three four five"


def test_a_connection_that_is_lost_before_the_marker_doubles_nothing() -> None:
    desktop = Desktop()
    texts = ["one", "two", "three", "four", "five", "six"]
    words = [WireWord(f" {text}" if n else text, 500 * n, 500 * n + 400, 0.5) for n, text in enumerate(texts)]
    desktop.take(desktop.uplink.received(Delta(" ".join(texts))))
    desktop.take(desktop.uplink.received(Words(tuple(words))))
    desktop.connect()
    for word in row(0, "won", "too", "free", "for", "fife", "sex", "seven"):
        desktop.hear(word)
    desktop.finish()
    assert desktop.done == "one two three four five six seven"


VOCABULARY = ("no", "yes", "go", "left", "stop", "matter")
hearings = st.lists(
    st.tuples(
        st.sampled_from(VOCABULARY),
        st.integers(150, 500),
        st.sampled_from(["word"] * 6 + ["other", "missed", "twice", "pause"]),
        st.integers(-120, 120),
    ),
    min_size=1,
    max_size=40,
)


def heard_from(spoken: Sequence[tuple[str, int, str, int]], base_ms: int, *, badly: bool) -> list[Heard]:
    """What a recogniser hears that begins at ``base_ms``; badly: with other words, and times a little off."""
    out: list[Heard] = []
    at = 0
    for text, length, what, off in spoken:
        at += 150
        start, end = at, at + length
        at = end
        if start < base_ms:
            continue
        if what == "pause":
            at += 2_000
            out.append(Heard("", 0, end, quiet=True))
        elif not badly:
            out.append(Heard(text, start, end))
        elif what != "missed":
            texts = {"other": ["mumble"], "twice": [text, text]}.get(what, [text])
            start, end = max(base_ms, start + off), max(base_ms + 1, end + off)
            out += [Heard(each, start, end) for each in texts]
    return out


@given(hearings, hearings, st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_the_desktops_replay_and_the_servers_give_the_same_text(
    spoken: list[tuple[str, int, str, int]], more: list[tuple[str, int, str, int]], lost_after: list[int]
) -> None:
    """Whatever is heard otherwise, missed, doubled or late, and however often the connection or the engine is lost."""
    desktop, server = Desktop(), Server()
    everything = [*spoken, *more]
    for number, count in enumerate([*lost_after, 1_000]):
        assert desktop.base_ms == server.turn.time_ms(0)
        for word in heard_from(everything, desktop.base_ms, badly=number > 0)[:count]:
            desktop.hear(word)
            server.hear(word)
            assert desktop.text == server.turn.text
        if count < 1_000:
            desktop.connect()
            server.lose()
    desktop.finish()
    server.turn.rest()
    assert desktop.done == desktop.text == server.turn.text
    assert desktop.words[: len(server.words)] == server.words
