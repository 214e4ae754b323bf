"""What a suspend asks for, by two clocks and by what the system announces."""

from __future__ import annotations

from sayso.app.clocks import Moment, now
from sayso.app.suspends import Step, Suspends


def at(seconds: float, slept: float = 0.0) -> Moment:
    return Moment(100.0 + seconds, 5000.0 + seconds + slept)


def test_a_computer_that_stays_awake_needs_nothing_however_long() -> None:
    suspends = Suspends(at(0))
    assert [suspends.tick(at(seconds)) for seconds in (2, 600, 1_000_000)] == [None] * 3


def test_a_suspend_that_nobody_announced_is_seen_by_the_clocks_once() -> None:
    suspends = Suspends(at(0))
    assert suspends.tick(at(2, slept=3600)) is Step.OPEN
    assert suspends.tick(at(4, slept=3600)) is None
    assert suspends.tick(at(6, slept=3700)) is Step.OPEN


def test_clocks_that_drift_apart_are_no_suspend() -> None:
    suspends = Suspends(at(0))
    assert [suspends.tick(at(day * 86_400, slept=day * 0.9)) for day in range(1, 30)] == [None] * 29


def test_an_announced_suspend_closes_the_microphone_and_its_end_opens_it_once() -> None:
    suspends = Suspends(at(0))
    assert suspends.announced(at(1)) is Step.CLOSE
    assert suspends.announced(at(1)) is None
    assert suspends.over(at(2, slept=3600)) is Step.OPEN
    assert suspends.over(at(2, slept=3600)) is None
    assert suspends.tick(at(4, slept=3600)) is None


def test_the_clocks_may_tell_the_end_before_the_system_does() -> None:
    suspends = Suspends(at(0))
    suspends.announced(at(1))
    assert suspends.tick(at(2, slept=3600)) is Step.OPEN
    assert suspends.over(at(3, slept=3600)) is None


def test_a_suspend_that_is_called_off_opens_the_microphone_with_a_word_and_without() -> None:
    suspends = Suspends(at(0))
    suspends.announced(at(1))
    assert suspends.over(at(3)) is Step.OPEN
    suspends.announced(at(10))
    assert suspends.tick(at(20)) is None
    assert suspends.tick(at(41)) is Step.OPEN


def test_both_clocks_of_this_computer_go_forward_together() -> None:
    first, second = now(), now()
    assert second.awake_s >= first.awake_s
    assert abs(second.slept_s - first.slept_s) < 0.5
