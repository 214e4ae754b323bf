from __future__ import annotations

import itertools

import pytest
import scenes
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import Snapshot
from sayso.ui.publisher import INTERVAL_S, Publisher, Throttle


def test_the_first_snapshot_is_delivered_at_once() -> None:
    assert Throttle(0.1).wait_s(now_s=5.0) == 0


def test_the_next_one_waits_for_the_rest_of_the_interval() -> None:
    throttle = Throttle(0.1)
    throttle.delivered(5.0)
    assert throttle.wait_s(5.04) == pytest.approx(0.06)
    assert throttle.wait_s(5.2) == 0


def test_a_clock_that_goes_back_delays_by_one_interval_at_most() -> None:
    throttle = Throttle(0.1)
    throttle.delivered(5.0)
    assert throttle.wait_s(1.0) <= 0.1


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=60))
def test_deliveries_are_never_closer_than_the_interval(gaps: list[float]) -> None:
    throttle = Throttle()
    now, delivered = 0.0, []
    for gap in gaps:
        now += gap
        at = now + throttle.wait_s(now)
        if not delivered or at > delivered[-1]:
            throttle.delivered(at)
            delivered.append(at)
            now = at
    assert all(after - before >= INTERVAL_S - 1e-9 for before, after in itertools.pairwise(delivered))


def test_a_burst_is_delivered_as_its_first_and_its_newest(qtbot: QtBot) -> None:
    seen: list[Snapshot] = []
    publisher = Publisher(seen.append, interval_s=0.05, clock=lambda: 100.0)
    burst = [scenes.snapshot(behind_ms=number) for number in range(50)]
    for snapshot in burst:
        publisher.publish(snapshot)
    assert seen == [burst[0]]
    qtbot.waitUntil(lambda: len(seen) == 2, timeout=15_000)
    assert seen[1] is burst[-1]
    assert len(seen) == 2


def test_after_closing_nothing_is_delivered_not_even_what_waits(qtbot: QtBot) -> None:
    seen: list[Snapshot] = []
    publisher = Publisher(seen.append, interval_s=0.01)
    publisher.publish(scenes.snapshot(behind_ms=1))
    publisher.publish(scenes.snapshot(behind_ms=2))
    publisher.close()
    publisher.publish(scenes.snapshot(behind_ms=3))
    qtbot.wait(60)
    assert [snapshot.behind_ms for snapshot in seen] == [1]


def test_what_cannot_be_shown_does_not_reach_whoever_told_of_it_and_the_next_is_shown(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []

    def deliver(snapshot: Snapshot) -> None:
        if snapshot.behind_ms == 1:
            raise RuntimeError(words)
        seen.append(snapshot.behind_ms)

    words = "what was said"
    publisher = Publisher(deliver, interval_s=0.0)
    for number in (1, 2):
        publisher.publish(scenes.snapshot(behind_ms=number))
    assert seen == [2]
    assert "RuntimeError" in caplog.text
    assert words not in caplog.text
