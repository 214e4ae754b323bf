"""The desktop's own server as it is started, as a process of its own, with the scripted engine as its child.

python tests/scripted_server.py [arguments of the scripted engine]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from sayso.server import __main__ as server
from sayso.server import run
from sayso.server.config import ServerConfig
from sayso.server.engine_client import EngineSettings

SCRIPT = Path(__file__).parent / "server" / "scripted_engine.py"


def main() -> int:
    as_started = run.engine_settings

    def scripted(config: ServerConfig) -> EngineSettings:
        return replace(as_started(config), command=(sys.executable, str(SCRIPT), *sys.argv[1:]))

    run.engine_settings = scripted
    return server.main()


if __name__ == "__main__":
    raise SystemExit(main())
