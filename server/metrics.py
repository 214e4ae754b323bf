"""The server's figures in Prometheus' text format, version 0.0.4. Pure but for one read of our own memory.

Source: "Exposition formats" of the Prometheus documentation. Names end in their unit; counters end in ``_total``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sayso.engine import messages
from sayso.server.engine_settings import EngineStatus
from sayso.server.footprint import resident_bytes
from sayso.server.session import SessionFacts
from sayso.server.tally import Tally

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """One metric: its samples by label sets, the empty one for a metric without labels."""

    name: str
    kind: Literal["gauge", "counter"]
    help: str
    samples: list[tuple[Labels, float]] = field(default_factory=list)


def families(
    status: EngineStatus, tally: Tally, sessions: Sequence[SessionFacts], bytes_by_tier: Mapping[str, int]
) -> list[Family]:
    """``bytes_by_tier``: what all sessions hold in the engine."""
    states = Counter(facts.state for facts in sessions)
    connected = sum(facts.connected for facts in sessions)
    held = {**bytes_by_tier, "server": sum(facts.kept_bytes for facts in sessions)}
    lost = "Sessions whose connection is lost, and that wait for their client."
    return [
        Family("sayso_connections", "gauge", "Clients that are connected.", _one(connected)),
        Family("sayso_sessions", "gauge", "Sessions by state.", _labelled("state", states)),
        Family("sayso_sessions_lost", "gauge", lost, _one(len(sessions) - connected)),
        Family("sayso_server_resident_bytes", "gauge", "Memory of the server.", _one(resident_bytes(os.getpid()))),
        Family("sayso_session_bytes", "gauge", "Memory of all sessions by tier.", _labelled("tier", held)),
        *_of_sessions(tally),
        *_of_life(status),
        *_of_memory(status.memory),
        *_of_work(status.metrics),
    ]


def _of_sessions(tally: Tally) -> list[Family]:
    parked, taken = "Sessions moved to a deeper tier.", "Time that took."
    refused = "Parks and restores that did not come about, by reason."
    replays = "Turns whose audio was given to an engine again."
    resumes = "Sessions that a new connection took over from a lost one."
    return [
        Family("sayso_parks_total", "counter", parked, _labelled("tier", tally.parks)),
        Family("sayso_park_seconds_total", "counter", taken, _labelled("tier", tally.park_s)),
        Family("sayso_restores_total", "counter", "Sessions brought back to the device.", _one(tally.restores)),
        Family("sayso_restore_seconds_total", "counter", taken, _one(tally.restore_s)),
        Family("sayso_park_failures_total", "counter", refused, _labelled("code", tally.refusals)),
        Family("sayso_replays_total", "counter", replays, _one(tally.replays)),
        Family("sayso_resumes_total", "counter", resumes, _one(tally.resumes)),
    ]


def _of_life(status: EngineStatus) -> list[Family]:
    startup = "From the newest start or reload to ready."
    return [
        Family("sayso_engine_ready", "gauge", "Whether the engine can transcribe.", _one(status.news.state == "ready")),
        Family("sayso_engine_starts_total", "counter", "Engine processes started.", _one(status.starts)),
        Family("sayso_engine_restarts_total", "counter", "Starts after a failure.", _one(status.restarts)),
        Family("sayso_engine_unloads_total", "counter", "Times the weights were given back.", _one(status.unloads)),
        Family("sayso_engine_ends_total", "counter", "Times the process was ended at rest.", _one(status.ends)),
        Family("sayso_engine_startup_seconds", "gauge", startup, _one(status.startup_ms / 1000)),
    ]


def _of_memory(memory: messages.Memory | None) -> list[Family]:
    if memory is None:
        return []
    device = "Memory that the engine holds on a device of its own."
    return [
        Family("sayso_engine_resident_bytes", "gauge", "Memory of the engine process.", _one(memory.resident)),
        Family("sayso_engine_weight_bytes", "gauge", "Memory of the weights.", _one(memory.weights)),
        Family("sayso_engine_device_bytes", "gauge", device, _one(memory.device)),
    ]


def _of_work(metrics: messages.Metrics | None) -> list[Family]:
    if metrics is None:
        return []
    lag = "Largest time by which text is behind its audio."
    return [
        Family("sayso_engine_steps_total", "counter", "Steps of the model.", _one(metrics.steps)),
        Family("sayso_engine_step_seconds", "gauge", "Time of a step.", _one(metrics.step_ms / 1000)),
        Family("sayso_engine_batch", "gauge", "Sessions in a step.", _one(metrics.batch)),
        Family("sayso_engine_lag_seconds", "gauge", lag, _one(metrics.lag_ms / 1000)),
    ]


def render(shown: Iterable[Family]) -> str:
    """A family without samples is left out."""
    lines: list[str] = []
    for family in shown:
        if family.samples:
            lines += [f"# HELP {family.name} {_escaped(family.help)}", f"# TYPE {family.name} {family.kind}"]
            lines += [f"{family.name}{_label_set(labels)} {value!r}" for labels, value in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _one(value: float) -> list[tuple[Labels, float]]:
    return [({}, float(value))]


def _labelled(name: str, values: Mapping[str, float]) -> list[tuple[Labels, float]]:
    return [({name: label}, float(value)) for label, value in sorted(values.items())]


def _label_set(labels: Labels) -> str:
    inside = ",".join('{}="{}"'.format(name, _escaped(value).replace('"', r"\"")) for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
