"""What the running limits mean for connections, and the one place that puts other ones in force.

Event loop.
"""

from __future__ import annotations

import logging

from sayso.server.engine_client import EngineClient
from sayso.server.engine_rules import idle_settings, retention
from sayso.server.limits import RunningLimits, changed
from sayso.server.transport import Connections
from sayso.server.turn_limits import Limits

logger = logging.getLogger(__name__)


def turn_limits(limits: RunningLimits) -> Limits:
    """What one connection may do."""
    return Limits(
        waiting_s=limits.waiting_s,
        replay_s=limits.replay_s,
        idle_s=limits.idle_s,
        idle_warning_s=limits.idle_warning_s,
        session_s=limits.session_s,
        resume_s=limits.resume_s,
    )


class Rules:
    """The limits in force."""

    def __init__(self, limits: RunningLimits, engine: EngineClient, connections: Connections) -> None:
        self.limits = limits
        self._engine = engine
        self._connections = connections

    def change(self, body: bytes) -> RunningLimits:
        """Put the limits that a JSON object names in force, at once; raises ``ServerError`` and changes nothing."""
        self.limits = limits = changed(self.limits, body)
        logger.info("other limits are in force")
        self._engine.regulate(idle_settings(limits), retention(limits))
        self._connections.regulate(turn_limits(limits), limits)
        return limits
