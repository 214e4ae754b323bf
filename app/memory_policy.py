"""When memory is given back: three presets over the single controls, and what the server is told of them. Pure.

A control that is changed by hand makes the choice *Custom*; controls that happen to equal a preset are that preset.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from sayso.app.errors import AppError

LONGEST_S = 86_400.0
MOST_MB = 1_000_000
MOST_PRESSURE = 100.0

Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
Megabytes = Annotated[int, msgspec.Meta(ge=0, le=MOST_MB)]


class Preset(StrEnum):
    KEEP_READY = "keep ready"
    BALANCED = "balanced"
    EVERYTHING_BACK = "give everything back"
    CUSTOM = "custom"


class MemoryPolicyError(AppError):
    """Codes: bad_control."""


class Controls(msgspec.Struct, frozen=True):
    """Seconds without speech after which something happens, and bounds in megabytes; 0 is never, or no bound.

    ``unload_after_s`` drops the engine's weights, ``end_after_s`` ends its process, ``end_on_battery_after_s`` does so
    while the machine runs on battery, ``end_at_pressure`` when programs wait for memory so many percent of the time.
    ``park_after_s``, ``hibernate_after_s`` and ``drop_after_s`` are about a session that waits, ``device_mb`` and
    ``host_mb`` about all of them. ``close_after_s`` closes this desktop's connection until the next speech;
    ``end_server`` then ends the local server too.
    """

    unload_after_s: Seconds = 0.0
    end_after_s: Seconds = 0.0
    end_on_battery_after_s: Seconds = 0.0
    end_at_pressure: Annotated[float, msgspec.Meta(ge=0, le=MOST_PRESSURE)] = 0.0
    park_after_s: Seconds = 0.0
    hibernate_after_s: Seconds = 0.0
    drop_after_s: Seconds = 0.0
    device_mb: Megabytes = 0
    host_mb: Megabytes = 0
    close_after_s: Seconds = 0.0
    end_server: bool = False


PRESETS: Mapping[Preset, Controls] = {
    Preset.KEEP_READY: Controls(),
    Preset.BALANCED: Controls(
        unload_after_s=300.0,
        end_after_s=1800.0,
        end_on_battery_after_s=120.0,
        end_at_pressure=10.0,
        park_after_s=30.0,
        drop_after_s=300.0,
    ),
    Preset.EVERYTHING_BACK: Controls(
        end_after_s=60.0,
        end_on_battery_after_s=30.0,
        end_at_pressure=5.0,
        park_after_s=10.0,
        drop_after_s=30.0,
        close_after_s=60.0,
        end_server=True,
    ),
}

_SERVER_NAMES = {
    "unload_after_s": "engine_unload_after_s",
    "end_after_s": "engine_end_after_s",
    "end_on_battery_after_s": "engine_end_on_battery_after_s",
    "end_at_pressure": "engine_end_at_pressure",
    "park_after_s": "park_after_s",
    "hibernate_after_s": "hibernate_after_s",
    "drop_after_s": "drop_after_s",
    "device_mb": "most_device_mb",
    "host_mb": "most_host_mb",
}
"""The controls that a server carries out, and how it calls them; the others are the desktop's own."""

OWN = tuple(name for name in Controls.__struct_fields__ if name not in _SERVER_NAMES)
"""The controls that the desktop carries out, with any server."""


def preset_of(controls: Controls) -> Preset:
    """The preset that these controls are."""
    return next((preset for preset, wanted in PRESETS.items() if wanted == controls), Preset.CUSTOM)


def changed(controls: Controls, name: str, value: float) -> Controls:
    """The controls with one of them changed; raises MemoryPolicyError ``bad_control``."""
    if name not in Controls.__struct_fields__:
        raise MemoryPolicyError("bad_control", f"There is no control named {name}.")
    old = getattr(controls, name)
    most = MOST_PRESSURE if name == "end_at_pressure" else LONGEST_S if name.endswith("_s") else MOST_MB
    if not 0 <= value <= most:
        raise MemoryPolicyError("bad_control", f"{value:g} is not possible here: choose from 0 to {most:g}.")
    return msgspec.structs.replace(controls, **{name: type(old)(value)})


def server_limits(controls: Controls) -> dict[str, float]:
    """What a server is told, by the names of its limits."""
    return {theirs: getattr(controls, ours) for ours, theirs in _SERVER_NAMES.items()}


def from_server(limits: Mapping[str, float], own: Controls) -> Controls:
    """The controls as a server reports them; what it does not carry out, or does not tell, is as in ``own``."""
    told = {ours: limits[theirs] for ours, theirs in _SERVER_NAMES.items() if theirs in limits}
    types = {name: type(getattr(own, name)) for name in told}
    return msgspec.structs.replace(own, **{name: types[name](value) for name, value in told.items()})
