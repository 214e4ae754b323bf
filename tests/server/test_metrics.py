"""The text format of the figures."""

from __future__ import annotations

import inspect
import os
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sayso.engine import messages as m
from sayso.engine import resting
from sayso.engine.session import State
from sayso.server.engine_settings import EngineStatus
from sayso.server.metrics import ENGINE_STATES, REFUSALS, Family, families, render
from sayso.server.protocol.intents import EngineNews
from sayso.server.protocol.state import WireState
from sayso.server.session import SessionFacts
from sayso.server.tally import Tally


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Every sample, by its name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_family_and_every_known_label_is_there_from_the_first_scrape() -> None:
    shown = families(EngineStatus(EngineNews("starting")), Tally(), (), ())
    text = render(shown)
    read = {family.name: family for family in text_string_to_metric_families(text)}
    for family in shown:
        found = read[family.name.removesuffix("_total")]
        assert (found.type, found.documentation) == (family.kind, family.help)
        assert found.samples
    first = samples(text)
    del first["sayso_server_resident_bytes",]
    assert set(first.values()) == {0.0}
    states = ("active", "waiting", "parked", "hibernated", "dropped")
    assert set(states) == set(ENGINE_STATES) == {state.value for state in State} - {"closed"}
    expected = {("sayso_engine_sessions", state) for state in states}
    expected |= {("sayso_sessions", state.value) for state in WireState}
    expected |= {("sayso_parks_total", tier) for tier in ("host", "disk", "dropped")}
    expected |= {("sayso_park_seconds_total", tier) for tier in ("host", "disk", "dropped")}
    expected |= {("sayso_session_bytes", tier) for tier in ("kv", "kv_host", "kv_disk", "audio", "features", "server")}
    expected |= {(f"sayso_{name}_total",) for name in ("restores", "replays", "resumes", "engine_restarts")}
    expected |= {("sayso_engine_lag_seconds",), ("sayso_engine_resident_bytes",), ("sayso_engine_weight_bytes",)}
    assert expected <= set(first)


def test_every_reason_that_the_engine_gives_for_not_parking_is_a_label_from_the_first_scrape() -> None:
    told = re.findall(r'_answer\(session, "(\w+)"', inspect.getsource(resting))
    said = {*told, "hibernation_failed", "out_of_memory"}
    assert said == set(REFUSALS)


def test_any_label_comes_out_as_it_went_in() -> None:
    label = 'quote " backslash \\ line\nend'
    family = Family("sayso_test_total", "counter", "Help with \\ and\nline.", [({"name": label}, 1.5)])
    (read,) = text_string_to_metric_families(render([family]))
    assert (read.type, read.documentation) == ("counter", "Help with \\ and\nline.")
    assert [(sample.labels["name"], sample.value) for sample in read.samples] == [(label, 1.5)]


def test_what_the_engine_tells_is_shown_in_base_units() -> None:
    status = EngineStatus(
        EngineNews("ready"),
        pid=os.getpid(),
        startup_ms=1500,
        restarts=3,
        memory=m.Memory(1024, 512, 0, ()),
        metrics=m.Metrics(steps=7, step_ms=20.0, batch=1.5, lag_ms=250.0),
    )
    sessions = [
        SessionFacts("a", "ready", 1.0, 1.0, 0, kept_bytes=5),
        SessionFacts("b", "ready", 1.0, 1.0, 0, connected=False, kept_bytes=6),
        SessionFacts("c", "streaming", 1.0, 1.0, 0),
    ]
    tally = Tally()
    for tier, took_ms in (("host", 2.0), ("disk", 4.0), ("dropped", 1.0), ("device", 8.0), ("device", 0.0)):
        tally.heard(m.Parked("a.0", tier, took_ms=took_ms))  # type: ignore[arg-type]
    tally.worked(m.Metrics(steps=7, step_ms=20.0, batch=1.5, lag_ms=250.0))
    ledgers = (
        m.Ledger("a.0", "active", 99, 0, 0, 0.0, 1.0),
        m.Ledger("b.0", "parked", 0, 0, 0, 9.0, 9.0, kv_host=7),
        m.Ledger("c.0", "hibernated", 0, 0, 0, 9.0, 9.0, kv_disk=8),
    )
    values = samples(render(families(status, tally, sessions, ledgers)))
    assert values["sayso_sessions", "ready"] == 2
    assert [values["sayso_session_bytes", tier] for tier in ("kv", "kv_host", "kv_disk")] == [99, 7, 8]
    assert [values["sayso_parks_total", tier] for tier in ("host", "disk", "dropped")] == [1, 1, 1]
    assert [values["sayso_park_seconds_total", tier] for tier in ("host", "disk", "dropped")] == [0.002, 0.004, 0.001]
    assert (values["sayso_restores_total",], values["sayso_restore_seconds_total",]) == (1, 0.008)
    assert (values["sayso_engine_steps_total",], values["sayso_engine_restarts_total",]) == (7, 3)
    assert values["sayso_session_bytes", "server"] == 11
    assert (values["sayso_connections",], values["sayso_sessions_lost",]) == (2, 1)
    assert values["sayso_engine_startup_seconds",] == 1.5
    assert values["sayso_engine_step_seconds",] == 0.02
    assert values["sayso_engine_lag_seconds",] == 0.25
    assert values["sayso_engine_weight_bytes",] == 512
    assert values["sayso_engine_steps_seconds_total",] == pytest.approx(0.14)
    standing = {state: values["sayso_engine_sessions", state] for state in ENGINE_STATES}
    assert standing == {"active": 1, "waiting": 0, "parked": 1, "hibernated": 1, "dropped": 0}
    assert values["sayso_engine_resident_bytes",] > 1_000_000
