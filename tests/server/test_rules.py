"""What limits mean for connections; that they take effect is in test_admin."""

from __future__ import annotations

from sayso.server.limits import RunningLimits
from sayso.server.rules import turn_limits
from sayso.server.turn_limits import Limits


def test_limits_of_a_connection() -> None:
    limits = RunningLimits(waiting_s=1, idle_s=2, idle_warning_s=3, session_s=4, resume_s=5, replay_s=6)
    expected = Limits(waiting_s=1, idle_s=2, idle_warning_s=3, session_s=4, resume_s=5, replay_s=6)
    assert turn_limits(limits) == expected
