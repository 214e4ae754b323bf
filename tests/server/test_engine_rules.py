"""What limits mean for the engine."""

from __future__ import annotations

from sayso.engine.messages import Retention
from sayso.server.engine_rules import idle_settings, retention
from sayso.server.idle import IdleSettings
from sayso.server.limits import RunningLimits


def test_0_is_never() -> None:
    assert (retention(RunningLimits()), idle_settings(RunningLimits())) == (Retention(), IdleSettings())


def test_each_limit_has_its_place() -> None:
    limits = RunningLimits(park_after_s=1, hibernate_after_s=2, drop_after_s=3, most_device_mb=4, most_host_mb=5)
    assert retention(limits) == Retention(1, 2, 3, None, 4_000_000, 5_000_000)
    limits = RunningLimits(
        engine_unload_after_s=1, engine_end_after_s=2, engine_end_at_pressure=3, engine_end_on_battery_after_s=4
    )
    assert idle_settings(limits) == IdleSettings(1, 2, 3, 4)
