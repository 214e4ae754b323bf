"""When a silent engine counts as hung."""

from __future__ import annotations

from sayso.engine import messages as m
from sayso.server.watchdog import Watchdog

READY = m.Ready("m", "cpu", 1, (), 1)


def watched() -> Watchdog:
    watchdog = Watchdog(silence_s=10.0, load_s=100.0)
    watchdog.sent(m.Load("m"), 0.0)
    watchdog.heard(READY, 5.0)
    return watchdog


def test_an_engine_that_owes_nothing_may_be_silent_for_ever() -> None:
    assert not watched().overdue(1e6)


def test_a_flush_without_an_answer_is_overdue_after_the_bound() -> None:
    watchdog = watched()
    watchdog.sent(m.Flush("s", 0, 1), 20.0)
    assert not watchdog.overdue(30.0)
    assert "did not answer for 10 seconds" in watchdog.overdue(30.1)


def test_any_message_is_a_sign_of_life() -> None:
    watchdog = watched()
    watchdog.sent(m.Flush("s", 0, 1), 20.0)
    watchdog.heard(m.Text("other", 0, "x", True, 0, 1), 29.0)
    assert not watchdog.overdue(38.0)
    assert watchdog.overdue(39.1)


def test_the_answer_settles_it() -> None:
    watchdog = watched()
    watchdog.sent(m.Open("s"), 20.0)
    watchdog.sent(m.Flush("s", 0, 1), 20.0)
    watchdog.heard(m.Opened("s"), 20.1)
    watchdog.heard(m.Flushed("s", 0, 1, 10), 20.2)
    assert not watchdog.overdue(1e6)


def test_a_session_that_ends_owes_nothing_more() -> None:
    for end in (m.Cancel("s", 1), m.Close("s")):
        watchdog = watched()
        watchdog.sent(m.Flush("s", 0, 1), 20.0)
        watchdog.sent(end, 21.0)
        assert not watchdog.overdue(1e6)
    watchdog = watched()
    watchdog.sent(m.Flush("s", 0, 1), 20.0)
    watchdog.heard(m.Failed("s", "x", "y"), 21.0)
    assert not watchdog.overdue(1e6)


def test_loading_has_its_own_longer_bound() -> None:
    watchdog = Watchdog(silence_s=10.0, load_s=100.0)
    watchdog.sent(m.Load("m"), 0.0)
    assert not watchdog.overdue(99.0)
    assert "100 seconds" in watchdog.overdue(101.0)


def test_a_ping_wants_its_pong() -> None:
    watchdog = watched()
    watchdog.sent(m.Ping(1), 20.0)
    assert watchdog.overdue(31.0)
    watchdog.heard(m.Pong(1), 31.0)
    assert not watchdog.overdue(1e6)


def test_it_waits_while_the_engine_loads_or_owes_an_answer() -> None:
    watchdog = Watchdog()
    assert not watchdog.waits
    watchdog.sent(m.Load("m"), 0.0)
    assert watchdog.waits
    watchdog.heard(READY, 5.0)
    assert not watchdog.waits
    watchdog.sent(m.Ping(1), 6.0)
    assert watchdog.waits
    watchdog.heard(m.Pong(1), 7.0)
    assert not watchdog.waits
