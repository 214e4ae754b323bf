"""Keeps the local server's limits as they are chosen: one request at a time, the latest choice wins. Event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from sayso.app.local_server import LocalServer
from sayso.app.server_reports import ReportError, ServerReports


class LimitsKeeper:
    """``want`` with every choice, ``tell`` whenever the server may have come up."""

    def __init__(self, local: LocalServer, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """``spawn`` runs work whose faults the user is to see."""
        self._local = local
        self._spawn = spawn
        self._telling = False

    def want(self, limits: dict[str, float]) -> None:
        """These are to be in force: at once where the server runs, else from its start on."""
        self._local.limits = limits
        self.tell()

    def tell(self) -> None:
        """Tell the server what it does not know yet."""
        if not self._telling and self._is_behind():
            self._telling = True
            self._spawn(self._tell())

    def _is_behind(self) -> bool:
        return self._local.running is not None and self._local.knows != self._local.limits

    async def _tell(self) -> None:
        try:
            while self._is_behind() and (endpoint := self._local.running) is not None:
                limits = self._local.limits
                try:
                    await ServerReports(endpoint).change_limits(limits)
                except ReportError:
                    # One that has just ended needs to be told nothing: the next is started with what is chosen.
                    if self._local.running == endpoint:
                        raise
                self._local.told(endpoint, limits)
        finally:
            self._telling = False
