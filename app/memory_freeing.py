"""*Free memory now*: end the engine, or connection and local server too, and measure what came back. Event loop.

An open turn is waited for; whoever speaks meanwhile is never cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.memory_view import Sample
from sayso.app.realtime.client import RealtimeClient
from sayso.app.server_reports import ServerReports

PATIENCE_S = 60.0
"""How long an open turn is waited for; then the request stands, and what it does comes later."""
_LOOK_EVERY_S = 0.1


class StillSpeakingError(AppError):
    """Codes: still_speaking."""


class FreeNow:
    """Carries out one request; ``measure`` gives the memory of now."""

    def __init__(self, client: RealtimeClient, local: LocalServer, measure: Callable[[], Awaitable[Sample]]) -> None:
        self._client = client
        self._local = local
        self._measure = measure

    async def end_engine(self, reports: ServerReports) -> tuple[Sample, Sample]:
        """End the engine of this server as soon as nobody speaks; memory before and after.

        Raises ReportError, and StillSpeakingError when somebody spoke all the time.
        """
        before = await self._measure()
        await reports.end_engine()
        return before, await self._once(self._engine_is_gone)

    async def end_connection(self, *, with_server: bool) -> tuple[Sample, Sample]:
        """Close the connection until the next speech; the local server ends with it where the policy says so.

        Raises StillSpeakingError when somebody spoke all the time.
        """
        before = await self._measure()
        self._client.rest.now()

        async def gone() -> Sample | None:
            ended = self._client.is_resting and not (with_server and self._local.pid is not None)
            return await self._measure() if ended else None

        return before, await self._once(gone)

    async def _engine_is_gone(self) -> Sample | None:
        after = await self._measure()
        return after if not after.engine else None

    async def _once(self, done: Callable[[], Awaitable[Sample | None]]) -> Sample:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    after = await done()
                    if after is not None:
                        return after
                    await asyncio.sleep(_LOOK_EVERY_S)
        except TimeoutError as error:
            raise StillSpeakingError(
                "still_speaking", "Somebody is still speaking; memory is freed as soon as they have finished."
            ) from error
