"""When a connection has been quiet or open for too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.server.deadlines import FINISH_S, ROTATION_S, Bounds, Standing, due, put_away

IDLE = Bounds(idle_s=60, warning_s=10)


def test_without_bounds_a_connection_lasts_for_ever() -> None:
    assert due(Standing(quiet_s=1e9, age_s=1e9), Bounds()) == ("wait", None)


def test_a_quiet_client_is_warned_once_and_then_let_go() -> None:
    assert due(Standing(0, 0), IDLE) == ("wait", 50)
    assert due(Standing(50, 50), IDLE) == ("warn", None)
    assert due(Standing(50, 50, warned=True), IDLE) == ("wait", 10)
    assert due(Standing(60, 60, warned=True), IDLE) == ("idle", None)


def test_a_short_bound_leaves_half_of_it_after_the_warning() -> None:
    assert due(Standing(1, 1), Bounds(idle_s=2, warning_s=10)) == ("warn", None)


def test_no_warning_is_given_when_none_is_wanted() -> None:
    assert due(Standing(59, 59), Bounds(idle_s=60, warning_s=0)) == ("wait", 1)


def test_a_client_that_waits_for_text_is_not_idle() -> None:
    assert due(Standing(1000, 1000, draining=True), IDLE) == ("wait", 50)


def test_a_connection_that_lasted_too_long_is_rotated_even_while_it_is_used() -> None:
    bounds = Bounds(length_s=3600)
    assert due(Standing(0, 3590), bounds) == ("wait", 10)
    assert due(Standing(0, 3600), bounds) == ("rotate", None)


def test_a_turn_that_does_not_end_is_ended_and_a_text_that_does_not_come_is_given_up() -> None:
    assert due(Standing(0, 0, leaving_s=0), IDLE) == ("wait", ROTATION_S)
    assert due(Standing(0, 0, leaving_s=ROTATION_S), IDLE) == ("finish", None)
    assert due(Standing(0, 0, leaving_s=1, finishing=True), IDLE) == ("wait", FINISH_S - 1)
    assert due(Standing(0, 0, leaving_s=FINISH_S, finishing=True), IDLE) == ("give_up", None)


seconds = st.floats(0, 1e5)


@given(
    st.builds(Standing, seconds, seconds, st.booleans(), st.booleans(), st.none() | seconds, st.booleans()),
    st.builds(Bounds, st.none() | seconds, seconds, seconds),
)
def test_a_wait_is_never_in_the_past(now: Standing, bounds: Bounds) -> None:
    step, wait_s = due(now, bounds)
    assert (step == "wait") or wait_s is None
    assert wait_s is None or wait_s >= 0


def test_a_client_may_wish_its_memory_given_back_in_two_steps() -> None:
    assert put_away(0, 10, 60, "") == ("", 10)
    assert put_away(10, 10, 60, "") == ("host", 50)
    assert put_away(12, 10, 60, "host") == ("host", 48)
    assert put_away(60, 10, 60, "host") == ("dropped", None)
    assert put_away(90, 10, 60, "dropped") == ("dropped", None)


def test_without_a_wish_nothing_is_put_away() -> None:
    assert put_away(1e9, 0, 0, "") == ("", None)
    assert put_away(70, 0, 60, "") == ("dropped", None)


def test_a_clock_that_jumps_back_puts_nothing_away() -> None:
    assert put_away(-100, 10, 60, "") == ("", 110)
