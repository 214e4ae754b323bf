"""Counts of what happens to sessions."""

from __future__ import annotations

from sayso.engine.messages import Metrics, Parked
from sayso.server.tally import Tally


def test_parks_and_restores_are_counted_with_their_time() -> None:
    tally = Tally()
    for answer in (
        Parked("a", "host", took_ms=500.0),
        Parked("b", "host", took_ms=250.0),
        Parked("a", "dropped", took_ms=1000.0),
        Parked("a", "device", took_ms=2000.0),
    ):
        tally.heard(answer)
    assert tally.parks == {"host": 2, "dropped": 1}
    assert tally.park_s == {"host": 0.75, "dropped": 1.0}
    assert (tally.restores, tally.restore_s) == (1, 2.0)
    assert not tally.refusals


def test_an_answer_that_changed_nothing_counts_only_as_its_reason() -> None:
    tally = Tally()
    tally.heard(Parked("a", "device"))
    tally.heard(Parked("a", "host"))
    tally.heard(Parked("a", "device", "session_busy", "It has work."))
    assert (dict(tally.parks), tally.restores) == ({}, 0)
    assert tally.refusals == {"session_busy": 1}


def test_a_disk_that_failed_counts_as_that_and_where_the_session_went() -> None:
    tally = Tally()
    tally.heard(Parked("a", "dropped", "hibernation_failed", "Full.", took_ms=10.0))
    assert (tally.refusals["hibernation_failed"], tally.parks["dropped"]) == (1, 1)


def test_steps_of_an_engine_that_ended_stay_counted_and_the_next_one_adds_its_own() -> None:
    tally = Tally()
    tally.engine_started()
    for steps, step_ms in ((10, 100.0), (30, 50.0)):
        tally.worked(Metrics(steps, step_ms, 1.0, 0.0))
    tally.engine_started()
    tally.worked(Metrics(40, 25.0, 1.0, 0.0))
    assert (tally.steps, tally.step_s) == (70, 2.5)
