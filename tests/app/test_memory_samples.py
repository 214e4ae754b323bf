"""What a look at the memory becomes, and that only ten minutes of them are kept."""

from __future__ import annotations

import psutil
import pytest

from sayso.app.memory_samples import KEPT_S, Samples, own_memory, sample
from sayso.app.server_reports import EngineHealth, Health, ServerHealth

HEALTH = Health("ready", ServerHealth(80), EngineHealth(resident_bytes=400, device_bytes=7))


def test_ten_minutes_are_kept() -> None:
    samples = Samples()
    for second in range(1000):
        samples.add(sample(float(second), 1, None, ended=False))
    assert samples.all[0].at_s == 999 - KEPT_S
    assert len(samples.all) == KEPT_S + 1


def test_what_a_server_tells_is_taken_over() -> None:
    taken = sample(1.0, 100, HEALTH, ended=False)
    assert (taken.desktop, taken.server, taken.engine, taken.device) == (100, 80, 400, 7)
    assert taken.total == 580


def test_what_has_ended_holds_nothing_and_what_is_not_told_is_unknown() -> None:
    assert sample(1.0, 100, None, ended=True).server == 0
    assert sample(1.0, 100, None, ended=True).engine == 0
    unknown = sample(1.0, 100, None, ended=False)
    assert (unknown.server, unknown.engine, unknown.total) == (None, None, 100)


def test_an_older_server_that_does_not_tell_of_itself_is_unknown_and_its_engine_known() -> None:
    taken = sample(1.0, 100, Health("ready", None, EngineHealth(resident_bytes=400)), ended=False)
    assert (taken.server, taken.engine) == (None, 400)


def test_the_own_memory_is_the_systems_figure() -> None:
    assert own_memory() == pytest.approx(psutil.Process().memory_info().rss, rel=0.1)
