"""Carries out what a suspend asks for: closes the microphone before it, opens it anew after it. Runs on the event loop.

``suspends`` decides; here are the clock that is looked at, the system that announces, and the listener.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from sayso.app.audio.listener import Listener
from sayso.app.beat import next_beat
from sayso.app.cancellation import cancel
from sayso.app.clocks import Moment, now
from sayso.app.errors import report_failure
from sayso.app.realtime.proof import Proof
from sayso.app.settings_store import SettingsStore
from sayso.app.suspends import Step, Suspends

log = logging.getLogger(__name__)

_TICK_S = 2.0


class Desktop(Protocol):
    """What is asked of the controller."""

    @property
    def listening(self) -> bool:
        """Whether the microphone is meant to be open."""


class SuspendWatch:
    """``run`` belongs beside the assistant, for as long as that lives."""

    def __init__(
        self,
        desktop: Desktop,
        store: SettingsStore,
        listener: Listener,
        proof: Proof,
        environment: Mapping[str, str],
        clock: Callable[[], Moment] = now,
        tick_s: float = _TICK_S,
    ) -> None:
        """``environment`` tells where the system's bus is."""
        self._desktop = desktop
        self._store = store
        self._listener = listener
        self._proof = proof
        self._environment = environment
        self._clock = clock
        self._tick_s = tick_s
        self._suspends = Suspends(clock())
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Watch until cancelled."""
        announcements = asyncio.create_task(self._hear(), name="suspend announcements")
        announcements.add_done_callback(report_failure)
        try:
            while True:
                await next_beat(self._tick_s)
                await self._do(self._suspends.tick(self._clock()))
        finally:
            await cancel(announcements)

    async def _hear(self) -> None:
        if sys.platform != "linux":
            return
        from sayso.app.actions.bus import SYSTEM
        from sayso.app.logind import suspends

        async with aclosing(suspends(self._environment.get("DBUS_SYSTEM_BUS_ADDRESS") or SYSTEM)) as announcements:
            async for going in announcements:
                moment = self._clock()
                await self._do(self._suspends.announced(moment) if going else self._suspends.over(moment))

    async def _do(self, step: Step | None) -> None:
        if step is None:
            return
        log.info("suspend: %s the microphone", step)
        async with self._turn:
            if step is Step.CLOSE:
                await self._listener.stop()
            else:
                self._proof.ask()
                if self._desktop.listening:
                    await self._listener.start(self._store.settings.microphone)
