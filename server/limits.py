"""The limits that may change while the server runs: one frozen value, checked as a whole before it is in force. Pure.

Seconds, megabytes (millions of bytes) and percent; 0 is never, or no bound, unless a line says otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from sayso.server.errors import ServerError

AT_LEAST_ONE = ("most_connections", "unread_bytes")
PERCENT = ("engine_end_at_pressure",)


class RunningLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Also a part of ``ServerConfig``, so that a server starts with what another one was told while it ran."""

    engine_unload_after_s: float = 0.0
    """Nobody speaks for so long: the weights are dropped."""
    engine_end_after_s: float = 0.0
    """Nobody speaks for so long: the engine process ends."""
    engine_end_at_pressure: float = 0.0
    """Percent of time stalled for memory at which an engine that nobody uses ends."""
    engine_end_on_battery_after_s: float = 0.0
    """As ``engine_end_after_s``, while the machine runs on its battery."""
    idle_s: float = 0.0
    """How long a client may say nothing."""
    idle_warning_s: float = 10.0
    """How long before that it is warned."""
    session_s: float = 0.0
    """How long a connection may last."""
    resume_s: float = 30.0
    """How long the session of a lost connection waits for its client."""
    most_connections: int = 64
    """At least 1; sessions whose connection is lost count, and are the first to go."""
    waiting_s: float = 600.0
    """Audio of one client that waits for a commit or for the engine."""
    replay_s: float = 300.0
    """Audio of an open turn that is kept for another engine when this one is lost."""
    unread_bytes: int = 8 * 1024 * 1024
    """At least 1: what a client may leave unread before it is disconnected."""
    park_after_s: float = 0.0
    """A session without work has its keys and values moved to host memory."""
    hibernate_after_s: float = 0.0
    """They go to an encrypted file."""
    drop_after_s: float = 0.0
    """They are freed, and computed again when the session goes on."""
    most_device_mb: int = 0
    """Keys and values on the device, over all sessions; the longest idle go first."""
    most_host_mb: int = 0
    """Keys and values that were moved to host memory."""

    def check_limits(self) -> None:
        """Raise ``ServerError`` ``bad_limit`` for a value that makes no sense."""
        for name in RunningLimits.__struct_fields__:
            value = getattr(self, name)
            least = 1 if name in AT_LEAST_ONE else 0
            if not math.isfinite(value) or value < least:
                raise ServerError("bad_limit", f"{name} must be {least} or more: {value:g} is not.")
            if name in PERCENT and value > 100:
                raise ServerError("bad_limit", f"{name} is a percentage: {value:g} is more than 100.")


def limits_in(config: RunningLimits) -> RunningLimits:
    """The limits alone of a value that has more."""
    return RunningLimits(**{name: getattr(config, name) for name in RunningLimits.__struct_fields__})


def changed(limits: RunningLimits, body: bytes) -> RunningLimits:
    """The limits with those that a JSON object names; raises ``ServerError`` ``invalid_json`` or ``bad_limit``."""
    try:
        wanted: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ServerError("invalid_json", f"The body must be a JSON object of limits ({error}).") from error
    try:
        after = msgspec.convert({**msgspec.to_builtins(limits), **wanted}, RunningLimits)
    except msgspec.ValidationError as error:
        raise ServerError("bad_limit", f"These limits cannot be set: {error}.") from error
    after.check_limits()
    return after
