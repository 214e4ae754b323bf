"""The settings in force and their file: changed on the event loop, written on a worker thread, latest wins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sayso.app.settings import Loaded, Settings, SettingsError, save

log = logging.getLogger(__name__)


class SettingsStore:
    """``settings`` is always what is in force, also when it cannot be written; then ``on_fault`` is told why."""

    def __init__(self, loaded: Loaded, where: Path | None = None) -> None:
        self.warning = loaded.warning
        self._settings = loaded.settings
        self._where = where
        self.on_fault: Callable[[str], None] = log.warning
        """Told when the file cannot be written."""
        self._writing: asyncio.Task[None] | None = None

    @property
    def settings(self) -> Settings:
        return self._settings

    def change(self, **changes: Any) -> None:
        """Replace some fields and write the file soon."""
        changed = msgspec.structs.replace(self._settings, **changes)
        if changed == self._settings:
            return
        self._settings = changed
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write(), name="settings")

    async def written(self) -> None:
        """Wait until the file holds what is in force, or could not be written."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        written: Settings | None = None
        while written is not self._settings:
            written = self._settings
            try:
                await asyncio.to_thread(save, written, self._where)
            except SettingsError as error:
                self.on_fault(f"{error} What you changed counts until Sayso ends.")
                return
