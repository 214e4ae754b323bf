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
from sayso.server.ledger import bytes_by_tier
from sayso.server.protocol.state import WireState
from sayso.server.session import SessionFacts
from sayso.server.tally import Tally

ENGINE_STATES = ("active", "waiting", "parked", "hibernated", "dropped")
"""What the engine says of a session that is open."""
DEEPER = ("host", "disk", "dropped")
REFUSALS = ("hibernation_failed", "not_recomputable", "nothing_held", "out_of_memory", "session_busy", "session_limit")
"""Why a park or a restore does not come about."""
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
    status: EngineStatus, tally: Tally, sessions: Sequence[SessionFacts], ledgers: Sequence[messages.Ledger]
) -> list[Family]:
    """``ledgers``: what the engine holds of sessions. Every label that is known beforehand has a sample, be it 0."""
    states = Counter({state.value: 0 for state in WireState})
    states.update(facts.state for facts in sessions)
    standing = Counter(dict.fromkeys(ENGINE_STATES, 0))
    standing.update(ledger.state for ledger in ledgers)
    connected = sum(facts.connected for facts in sessions)
    held = {**bytes_by_tier(ledgers), "server": sum(facts.kept_bytes for facts in sessions)}
    lost = "Sessions whose connection is lost, and that wait for their client."
    kept = "Sessions that the engine holds, by where their memory is."
    return [
        Family("sayso_connections", "gauge", "Clients that are connected.", _one(connected)),
        Family("sayso_sessions", "gauge", "Sessions by state.", _labelled("state", states)),
        Family("sayso_sessions_lost", "gauge", lost, _one(len(sessions) - connected)),
        Family("sayso_engine_sessions", "gauge", kept, _labelled("state", standing)),
        Family("sayso_server_resident_bytes", "gauge", "Memory of the server.", _one(resident_bytes(os.getpid()))),
        Family("sayso_session_bytes", "gauge", "Memory of all sessions by tier.", _labelled("tier", held)),
        *_of_sessions(tally),
        *_of_life(status),
        *_of_memory(status),
        *_of_work(status.metrics, tally),
    ]


def _of_sessions(tally: Tally) -> list[Family]:
    parked, taken = "Sessions moved to a deeper tier.", "Time that took."
    refused = "Parks and restores that did not come about, by reason."
    replays = "Turns whose audio was given to an engine again."
    resumes = "Sessions that a new connection took over from a lost one."
    none, never = dict.fromkeys(DEEPER, 0), dict.fromkeys(REFUSALS, 0)
    return [
        Family("sayso_parks_total", "counter", parked, _labelled("tier", {**none, **tally.parks})),
        Family("sayso_park_seconds_total", "counter", taken, _labelled("tier", {**none, **tally.park_s})),
        Family("sayso_restores_total", "counter", "Sessions brought back to the device.", _one(tally.restores)),
        Family("sayso_restore_seconds_total", "counter", taken, _one(tally.restore_s)),
        Family("sayso_park_failures_total", "counter", refused, _labelled("code", {**never, **tally.refusals})),
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


def _of_memory(status: EngineStatus) -> list[Family]:
    """An engine that rests holds no weights; one that has ended holds nothing."""
    memory = status.memory or messages.Memory(0, 0, 0, ())
    device = "Memory that the engine holds on a device of its own."
    resident = resident_bytes(status.pid) if status.pid else 0
    return [
        Family("sayso_engine_resident_bytes", "gauge", "Memory of the engine process.", _one(resident)),
        Family("sayso_engine_weight_bytes", "gauge", "Memory of the weights.", _one(memory.weights)),
        Family("sayso_engine_device_bytes", "gauge", device, _one(memory.device)),
    ]


def _of_work(metrics: messages.Metrics | None, tally: Tally) -> list[Family]:
    metrics = metrics or messages.Metrics(0, 0.0, 0.0, 0.0)
    lag = "Largest time by which text is behind its audio."
    mean = "Mean time of a step since the engine started."
    return [
        Family("sayso_engine_steps_total", "counter", "Steps of the model.", _one(tally.steps)),
        Family("sayso_engine_steps_seconds_total", "counter", "Time of all steps.", _one(tally.step_s)),
        Family("sayso_engine_step_seconds", "gauge", mean, _one(metrics.step_ms / 1000)),
        Family("sayso_engine_batch", "gauge", "Mean of the sessions in a step.", _one(metrics.batch)),
        Family("sayso_engine_lag_seconds", "gauge", lag, _one(metrics.lag_ms / 1000)),
    ]


def render(shown: Iterable[Family]) -> str:
    """The text that a scraper reads."""
    lines: list[str] = []
    for family in shown:
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
