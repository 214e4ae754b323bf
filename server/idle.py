"""When the engine gives its memory back: a function of use, power, pressure and settings. Pure.

An engine that somebody uses is never touched, whatever was asked for and however scarce memory is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rest = Literal["keep", "unload", "end"]
"""Keep the engine ready, drop its weights but keep the process, or end the process, which gives everything back."""

PRESSED_S = 10.0
"""So long nobody has used an engine that ends because memory is scarce. The figure is a mean of ten seconds, in which
loading the engine counts too; and one that was started because somebody is about to speak must be there for them."""


@dataclass(frozen=True)
class IdleSettings:
    """Seconds without use after which the engine rests, and the share of stalled time that ends it; 0 is never."""

    unload_after_s: float = 0.0
    end_after_s: float = 0.0
    end_at_pressure: float = 0.0
    """Percent of the last ten seconds in which some program had to wait for memory; see ``PRESSED_S``."""
    end_on_battery_after_s: float = 0.0
    """As ``end_after_s``, while the machine runs on its battery."""


@dataclass(frozen=True)
class Situation:
    """``busy``: audio of an open turn is with the engine. ``asked``: what somebody wants as soon as that is over."""

    busy: bool
    unused_s: float
    loaded: bool = True
    asked: Rest = "keep"
    pressure: float = 0.0
    on_battery: bool = False


def rest(now: Situation, settings: IdleSettings) -> Rest:
    """What is to be done with an engine process that runs and does not load."""
    if now.busy:
        return "keep"
    scarce = 0 < settings.end_at_pressure <= now.pressure and now.unused_s >= PRESSED_S
    saves = now.on_battery and _over(now.unused_s, settings.end_on_battery_after_s)
    if now.asked == "end" or scarce or saves or _over(now.unused_s, settings.end_after_s):
        return "end"
    if now.loaded and (now.asked == "unload" or _over(now.unused_s, settings.unload_after_s)):
        return "unload"
    return "keep"


def _over(unused_s: float, bound_s: float) -> bool:
    return 0 < bound_s <= unused_s
