"""What the windows ask for besides listening: one object a page, built in ``app.composition``. Event loop.

A new page is a class with a ``view`` for the snapshot and intents of its own, and a field here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from sayso.app.command_book import CommandBook
from sayso.app.engine_panel import EnginePanel
from sayso.app.first_run import FirstRun
from sayso.app.history.history import History
from sayso.app.memory_panel import MemoryPanel
from sayso.app.microphone_check import MicrophoneCheck
from sayso.app.options import Options
from sayso.app.remote_servers import RemoteServers
from sayso.app.ways import Ways


@dataclass(frozen=True)
class Panels:
    engine: EnginePanel
    guide: FirstRun
    options: Options
    commands: CommandBook
    check: MicrophoneCheck
    history: History
    servers: RemoteServers
    memory: MemoryPanel
    ways: Ways

    @property
    def views(self) -> dict[str, Any]:
        """What each of them shows, by its name in the snapshot, which is its name here."""
        return {field.name: getattr(self, field.name).view for field in fields(self)}


class PanelIntents:
    """The intents of each page by its name, for the one object that a window is given."""

    _panels: Panels

    @property
    def engine(self) -> EnginePanel:
        return self._panels.engine

    @property
    def guide(self) -> FirstRun:
        return self._panels.guide

    @property
    def options(self) -> Options:
        return self._panels.options

    @property
    def check(self) -> MicrophoneCheck:
        return self._panels.check

    @property
    def commands(self) -> CommandBook:
        return self._panels.commands

    @property
    def history(self) -> History:
        return self._panels.history

    @property
    def servers(self) -> RemoteServers:
        return self._panels.servers

    @property
    def memory(self) -> MemoryPanel:
        return self._panels.memory

    @property
    def ways(self) -> Ways:
        return self._panels.ways
