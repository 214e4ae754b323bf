"""What the running limits mean for the engine. Pure; needed before the web framework is there."""

from __future__ import annotations

from sayso.engine.messages import Retention
from sayso.server.idle import IdleSettings
from sayso.server.limits import RunningLimits

BYTES_PER_MB = 1_000_000


def idle_settings(limits: RunningLimits) -> IdleSettings:
    """When the engine rests."""
    return IdleSettings(
        unload_after_s=limits.engine_unload_after_s,
        end_after_s=limits.engine_end_after_s,
        end_at_pressure=limits.engine_end_at_pressure,
        end_on_battery_after_s=limits.engine_end_on_battery_after_s,
    )


def retention(limits: RunningLimits) -> Retention:
    """When sessions in the engine give their memory back."""
    return Retention(
        park_s=limits.park_after_s or None,
        hibernate_s=limits.hibernate_after_s or None,
        drop_s=limits.drop_after_s or None,
        device_bytes=limits.most_device_mb * BYTES_PER_MB,
        host_bytes=limits.most_host_mb * BYTES_PER_MB,
    )
