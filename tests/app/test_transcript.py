"""Lines from the client's events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.app.realtime.events import (
    Behind,
    Connection,
    RealtimeEvent,
    TurnDone,
    TurnLost,
    TurnStable,
    TurnTentative,
    TurnWords,
)
from sayso.app.snapshot import Line, LineKind, ServerState
from sayso.app.transcript import KEPT_LINES, Transcript


def transcript(*events: RealtimeEvent, turns: tuple[int, ...] = (1,)) -> Transcript:
    made = Transcript()
    for turn in turns:
        made = made.begin(turn, 100.0 + turn)
    for event in events:
        made = made.apply(event)
    return made


def test_stable_text_grows_and_takes_the_place_of_the_tentative() -> None:
    made = transcript(TurnTentative(1, "Ever tied"), TurnStable(1, "Ever"), TurnTentative(1, " tried"))
    assert made.lines == (Line(1, "Ever", " tried", LineKind.OPEN, 101.0),)


def test_a_finished_line_has_its_text_and_is_plain_until_it_is_marked() -> None:
    made = transcript(TurnStable(1, "Mute."), TurnTentative(1, " the"), TurnDone(1, "Mute."))
    assert made.find(1) == Line(1, "Mute.", "", LineKind.PLAIN, 101.0)
    assert made.mark(1, LineKind.COMMAND).lines[0].kind is LineKind.COMMAND
    assert made.mark(1, LineKind.PLAIN, "volume up").lines[0].meant == "volume up"


def test_a_line_that_was_marked_before_its_end_stays_as_it_was_marked() -> None:
    made = transcript(TurnStable(1, "Mute.")).mark(1, LineKind.COMMAND).apply(TurnDone(1, "Mute."))
    assert made.lines[0].kind is LineKind.COMMAND


def test_a_cough_leaves_no_line() -> None:
    assert transcript(TurnTentative(1, "uh"), TurnDone(1, "")).lines == ()


def test_lost_speech_adds_up_and_a_line_of_nothing_else_says_so() -> None:
    lost = (TurnLost(1, 500, "failed", "…"), TurnLost(1, 250, "failed", "…"))
    assert transcript(*lost, TurnDone(1, "")).lines == (Line(1, "", "", LineKind.LOST, 101.0, 750),)
    assert transcript(*lost, TurnStable(1, "Go."), TurnDone(1, "Go.")).lines[0].kind is LineKind.PLAIN


def test_events_of_one_turn_leave_the_others_alone() -> None:
    made = transcript(TurnStable(2, "two"), TurnStable(1, "one"), TurnDone(1, "one"), turns=(1, 2))
    assert [(line.id, line.stable) for line in made.lines] == [(1, "one"), (2, "two")]


def test_what_is_not_about_a_known_turn_changes_nothing() -> None:
    made = transcript()
    others = (TurnStable(9, "x"), TurnDone(9, "x"), TurnLost(9, 1, "", ""), TurnWords(1, ()), Behind(2000))
    for event in (*others, Connection(ServerState.LOST)):
        assert made.apply(event) == made


def test_a_day_of_listening_keeps_a_bounded_number_of_lines() -> None:
    made = Transcript()
    for turn in range(KEPT_LINES + 10):
        made = made.begin(turn, 0.0)
    assert len(made.lines) == KEPT_LINES
    assert made.lines[0].id == 10


def test_a_removed_line_is_gone() -> None:
    assert transcript(turns=(1, 2)).remove(1).find(1) is None


@given(st.lists(st.one_of(st.text(max_size=5).map(lambda t: TurnStable(1, t)), st.builds(TurnTentative, st.just(1)))))
def test_stable_text_never_changes_but_by_growing(events: list[RealtimeEvent]) -> None:
    made = transcript()
    for event in events:
        before = made.lines[0].stable
        made = made.apply(event)
        assert made.lines[0].stable.startswith(before)


def test_what_was_said_can_be_dropped_while_the_open_line_stays() -> None:
    made = Transcript().begin(1, 0.0).apply(TurnDone(1, "open Firefox")).begin(2, 1.0).apply(TurnStable(2, "and"))
    assert [line.id for line in made.without_finished().lines] == [2]


def test_what_was_not_heard_belongs_to_the_open_utterance_and_else_to_a_line_of_its_own() -> None:
    within = transcript(TurnStable(1, "Mute")).missed(1, 110.0, 2500)
    assert within.lines == (Line(1, "Mute", "", LineKind.OPEN, 101.0, 2500),)
    between = within.missed(None, 120.0, 4000)
    assert between.lines[1].kind is LineKind.MISSED
    assert (between.lines[1].started_at, between.lines[1].lost_ms) == (116.0, 4000)
    again = between.begin(2, 121.0).missed(None, 130.0, 1000)
    assert len({line.id for line in again.lines}) == 4
