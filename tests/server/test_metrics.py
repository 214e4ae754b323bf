"""The text format of the figures."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from sayso.engine import messages as m
from sayso.server.engine_settings import EngineStatus
from sayso.server.metrics import Family, families, render
from sayso.server.protocol.intents import EngineNews
from sayso.server.session import SessionFacts
from sayso.server.tally import Tally


def test_any_label_comes_out_as_it_went_in() -> None:
    label = 'quote " backslash \\ line\nend'
    family = Family("sayso_test_total", "counter", "Help with \\ and\nline.", [({"name": label}, 1.5)])
    (read,) = text_string_to_metric_families(render([family]))
    assert (read.type, read.documentation) == ("counter", "Help with \\ and\nline.")
    assert [(sample.labels["name"], sample.value) for sample in read.samples] == [(label, 1.5)]


def test_what_the_engine_tells_is_shown_in_base_units() -> None:
    status = EngineStatus(
        EngineNews("ready"),
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
    text = render(families(status, tally, sessions, {"kv": 99, "kv_host": 7, "kv_disk": 8}))
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
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
    assert values["sayso_engine_resident_bytes",] == 1024
