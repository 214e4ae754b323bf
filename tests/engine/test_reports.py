"""The engine speaks of itself when something changed, and not more often than it should."""

import pytest
from scripted_streams import RangeRunner

from sayso.engine import messages as m
from sayso.engine import reports as reports_module
from sayso.engine.options import Reporting
from sayso.engine.reports import Reports
from sayso.engine.session import Session


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_due_and_nothing_is_waited_for_while_nothing_happens() -> None:
    clock = Clock()
    reports = Reports(clock)
    clock.now = 1000.0
    assert reports.wait_s() is None
    assert reports.due({}, None) == []


def test_memory_comes_after_a_change_with_a_ledger_for_every_session() -> None:
    clock = Clock()
    reports = Reports(clock, Reporting(memory_s=5.0))
    session = Session("a", 0, m.SessionOptions(), RangeRunner().stream)
    reports.opened("a")
    clock.now = 2.0
    reports.touch("a")
    assert reports.wait_s() == 3.0
    assert reports.due({"a": session}, None) == []
    clock.now = 6.0
    (memory,) = reports.due({"a": session}, None)
    assert isinstance(memory, m.Memory)
    assert memory.resident > 10_000_000
    assert [(e.session, e.state, e.idle_s, e.age_s) for e in memory.sessions] == [("a", "waiting", 4.0, 6.0)]
    assert reports.wait_s() is None


def test_memory_is_told_of_sessions_that_moved_or_ended_although_no_message_came() -> None:
    clock = Clock()
    reports = Reports(clock, Reporting(memory_s=5.0))
    for change in (reports.moved, lambda: reports.closed("a")):
        assert reports.wait_s() is None
        change()
        clock.now += 5.0
        assert reports.wait_s() == 0.0
        assert [type(message) for message in reports.due({}, None)] == [m.Memory]


def test_metrics_come_about_once_a_second_while_there_are_steps() -> None:
    clock = Clock()
    reports = Reports(clock, Reporting(metrics_s=1.0, memory_s=100.0))
    reports.stepped(2, 30.0)
    reports.stepped(4, 50.0)
    clock.now = 1.5
    assert reports.due({}, None) == [m.Metrics(2, 40.0, 3.0, 0.0)]
    assert reports.due({}, None) == []


def test_a_second_after_the_last_step_kernels_are_forgotten_once_and_memory_is_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgotten: list[float] = []
    clock = Clock()
    monkeypatch.setattr(reports_module, "forget_kernels", lambda: forgotten.append(clock.now))
    reports = Reports(clock, Reporting(memory_s=1.0, metrics_s=1.0, quiet_s=1.0))
    for clock.now in (0.5, 1.2, 1.9):
        reports.stepped(1, 10.0)
        reports.due({}, None)
    clock.now = 2.8
    reports.due({}, None)
    assert forgotten == []
    while (wait := reports.wait_s()) is not None:
        clock.now += wait
        out = reports.due({}, None)
    assert forgotten == [2.9]
    assert clock.now >= 2.9
    assert [type(message) for message in out] == [m.Memory]


def test_a_clock_that_jumps_back_delays_no_report() -> None:
    clock = Clock()
    clock.now = 1e6
    reports = Reports(clock, Reporting(memory_s=1.0, metrics_s=1.0, quiet_s=1.0))
    reports.stepped(1, 10.0)
    clock.now = 5.0
    assert reports.wait_s() == 1.0
    clock.now = 6.0
    assert {type(message) for message in reports.due({}, None)} == {m.Memory, m.Metrics}
