"""Passing messages on the desktop, for sessions in which nothing can be shown over other windows. Event loop.

One is shown at a time: each takes the place of the one before, and of those that come while one is handed over only
the newest is.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from sayso.app.actions.errors import ActionError

log = logging.getLogger(__name__)


class Messages:
    """``tell`` returns at once. A desktop without a service for messages shows none; the window tells all anyway."""

    def __init__(self, environment: Mapping[str, str], spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """``environment`` tells where the session's bus is; ``spawn`` runs work whose faults the user is to see."""
        self._address = environment.get("DBUS_SESSION_BUS_ADDRESS", "")
        self._spawn = spawn
        self._waiting = ""
        self._telling = False
        self._shown = 0

    def tell(self, text: str) -> None:
        """Show this, in the place of what was shown before."""
        self._waiting = text
        if not self._telling and sys.platform == "linux":
            self._telling = True
            self._spawn(self._tell())

    async def _tell(self) -> None:
        try:
            while self._waiting:
                text, self._waiting = self._waiting, ""
                self._shown = await asyncio.to_thread(self._show, text)
        finally:
            self._telling = False

    def _show(self, text: str) -> int:
        from sayso.app.actions.bus import Bus
        from sayso.app.actions.notification import mention

        try:
            return mention(Bus(self._address), text, self._shown)
        except ActionError as error:
            log.info("not told on the desktop: %s", error.code)
            return 0
