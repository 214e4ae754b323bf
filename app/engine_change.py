"""Another model, device or number of threads for the engine on this machine, without losing speech. Event loop.

A second server starts with the new choice while the old one goes on. Only when its engine can transcribe does it take
the old one's place, and the realtime client says again what the old one has not confirmed. For that time both models
are in memory; in return a model that cannot be loaded changes nothing.
"""

from __future__ import annotations

import asyncio

from sayso.app.errors import AppError
from sayso.app.local_server import LocalServer
from sayso.app.server_choice import ServerChoice
from sayso.app.server_reports import ReportError, ServerReports
from sayso.app.snapshot import ServerKind

_LOAD_S = 600.0
_ASK_EVERY_S = 0.25


class EngineChangeError(AppError):
    """Codes: engine_refused, engine_slow; the text says that the old one goes on."""


class EngineChange:
    def __init__(self, local: LocalServer, server: ServerChoice) -> None:
        self._local = local
        self._server = server

    async def to(self, model: str, device: str, threads: int) -> None:
        """Have the engine on this machine run like this; cancelling leaves everything as it is.

        While a remote server is in use nothing is started: the choice counts from the next start on. Raises AppError.
        """
        candidate = self._local.another(model, device, threads)
        try:
            if self._server.view.kind is ServerKind.EMBEDDED:
                await self._until_ready(candidate)
            self._local.exchange(candidate)
            if self._server.view.kind is ServerKind.EMBEDDED:
                await self._server.use_embedded()
            else:
                await self._local.close()
        finally:
            # Which is the old one after an exchange. Ending it must not be cut short, or it would be left behind.
            await asyncio.shield(candidate.close())

    async def _until_ready(self, candidate: LocalServer) -> None:
        endpoint = await candidate.endpoint()
        reports = ServerReports(endpoint)
        try:
            async with asyncio.timeout(_LOAD_S):
                while True:
                    health = await reports.health()
                    if health.status == "ready":
                        return
                    if health.status == "failed":
                        raise EngineChangeError("engine_refused", _without_advice(health.engine.detail))
                    await asyncio.sleep(_ASK_EVERY_S)
        except TimeoutError as error:
            raise EngineChangeError("engine_slow", "The model was not loaded within ten minutes.") from error
        except ReportError as error:
            raise EngineChangeError("engine_refused", "The server with this model has ended.") from error


def _without_advice(detail: str) -> str:
    """The engine's reason without what the server adds for those who keep one."""
    return detail.removesuffix(" Start the server again when that is mended.").strip() or "The model cannot be loaded."
