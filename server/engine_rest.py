"""How long nobody has used the engine, what has been done with it, and what is to be done now.

Event loop. Decided in ``server.idle``; the clock, the battery and the pressure of memory are read here.
"""

from __future__ import annotations

from sayso.server.engine_settings import EngineSettings
from sayso.server.idle import IdleSettings, Rest, Situation, rest
from sayso.server.power import on_battery
from sayso.server.pressure import memory_pressure

POWER_EVERY_S = 5.0
"""Asking a battery can take milliseconds."""


class EngineRest:
    def __init__(self, settings: EngineSettings) -> None:
        self.rules: IdleSettings = settings.idle
        self.done: Rest = "keep"
        """What has been done with the engine of now."""
        self.asked: Rest = "keep"
        self.unloads = self.ends = 0
        self._clock = settings.clock
        self._memory_pressure = settings.memory_pressure
        self._power_supplies = settings.power_supplies
        self._battery = False
        self._battery_at_s: float | None = None
        self._used_s = settings.clock()

    @property
    def unused_s(self) -> float:
        return max(0.0, self._clock() - self._used_s)

    @property
    def on_battery(self) -> bool:
        """As asked a few seconds ago at most."""
        now_s = self._clock()
        if self._battery_at_s is None or not 0 <= now_s - self._battery_at_s < POWER_EVERY_S:
            self._battery, self._battery_at_s = on_battery(self._power_supplies), now_s
        return self._battery

    @property
    def memory_pressure(self) -> float | None:
        """Percent of the last seconds in which programs waited for memory; None where the system does not tell."""
        return memory_pressure(self._memory_pressure)

    def use(self) -> None:
        """Somebody uses the engine at this moment."""
        self._used_s = self._clock()

    def wake(self) -> Rest:
        """Somebody speaks: the engine is to serve again; what had been done with it."""
        self.use()
        done, self.done = self.done, "keep"
        return done

    def due(self, *, busy: bool) -> Rest:
        """What is to be done with an engine that has a process and does not load."""
        if busy:
            self.use()
        rules = self.rules
        now = Situation(
            busy,
            self.unused_s,
            loaded=self.done == "keep",
            asked=self.asked,
            pressure=(self.memory_pressure or 0.0) if rules.end_at_pressure and not busy else 0.0,
            on_battery=bool(rules.end_on_battery_after_s) and not busy and self.on_battery,
        )
        if not busy:
            self.asked = "keep"
        return rest(now, rules)

    def do(self, what: Rest) -> None:
        """That was done."""
        self.done = what
        if what == "unload":
            self.unloads += 1
        elif what == "end":
            self.ends += 1
