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
        memory=m.Memory(1024, 512, 0, ()),
        metrics=m.Metrics(steps=7, step_ms=20.0, batch=1.5, lag_ms=250.0),
    )
    sessions = [
        SessionFacts("a", "ready", 1.0, 1.0, 0, kept_bytes=5),
        SessionFacts("b", "ready", 1.0, 1.0, 0, connected=False, kept_bytes=6),
        SessionFacts("c", "streaming", 1.0, 1.0, 0),
    ]
    text = render(families(status, Tally(), sessions, {"kv": 99}))
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert values["sayso_sessions", "ready"] == 2
    assert values["sayso_session_bytes", "kv"] == 99
    assert values["sayso_session_bytes", "server"] == 11
    assert (values["sayso_connections",], values["sayso_sessions_lost",]) == (2, 1)
    assert values["sayso_engine_startup_seconds",] == 1.5
    assert values["sayso_engine_step_seconds",] == 0.02
    assert values["sayso_engine_lag_seconds",] == 0.25
    assert values["sayso_engine_resident_bytes",] == 1024
