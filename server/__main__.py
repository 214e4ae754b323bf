"""The desktop's own server: one JSON line in, one JSON line out, and it ends with its standard input.

In: the fields of ``ServerConfig``. Out: ``{"url": …}`` once the socket listens, the engine may still load by then; or
``{"error": {"code": …, "message": …}}`` and exit status 1.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading

from sayso.server.config import ServerConfig, config_from_line
from sayso.server.errors import ServerError
from sayso.server.logs import set_up_logging
from sayso.server.run import run

MAX_LINE_BYTES = 65_536
STDIN = 0


def main() -> int:
    set_up_logging()
    try:
        config = config_from_line(read_line())
        asyncio.run(_serve(config))
    except ServerError as error:
        _say({"error": {"code": error.code, "message": error.message}})
        return 1
    return 0


async def _serve(config: ServerConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_watch_stdin, args=(loop, stop), name="stdin", daemon=True).start()

    def announce(url: str) -> None:
        _say({"url": url})

    await run(config, announce, once_ready=False, stop=stop)


def read_line() -> bytes:
    """One line, read without a buffer so that what follows it stays in the pipe; raises ``ServerError``."""
    line = b""
    while not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
        byte = os.read(STDIN, 1)
        if not byte:
            break
        line += byte
    return line


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Blocks until the parent's pipe ends. A raw read holds no lock that the interpreter wants at its exit."""
    while os.read(STDIN, 4096):
        pass
    if not loop.is_closed():
        loop.call_soon_threadsafe(stop.set)


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
