"""What the windows ask for besides listening: one object a page, built in ``app.composition``. Event loop.

A new page is a class with a ``view`` for the snapshot and intents of its own, and a field here.
"""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.history.history import History
from sayso.app.memory_panel import MemoryPanel
from sayso.app.options import Options
from sayso.app.remote_servers import RemoteServers


@dataclass(frozen=True)
class Panels:
    options: Options
    history: History
    servers: RemoteServers
    memory: MemoryPanel
