"""The engine process: ``python -m sayso.engine`` speaks ``engine.messages`` on its standard streams.

It ends when its standard input does. Logs go to standard error and hold no speech and no text.
"""

from __future__ import annotations

import logging
import os
import signal
import sys

from sayso.engine.channel import Channel, claim_standard_streams
from sayso.engine.loop import Engine
from sayso.engine.messages import Down, Failed
from sayso.engine.options import Limits


def main() -> int:
    """Exit status 0 after ``Stop`` or the end of the pipe, 2 after bytes that are no messages."""
    read_fd, write_fd = claim_standard_streams()
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("SAYSO_LOG", "WARNING").upper(),
        format="%(asctime)s engine %(levelname)s %(name)s: %(message)s",
    )
    # Ctrl-C in a terminal reaches every process of the group; this one ends when its parent closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits = Limits()
    channel = Channel(read_fd, write_fd, Down, limits.inbox_bytes)
    channel.start()
    engine = Engine(channel, limits)
    channel.abandoned = engine.forget_files
    # A session of the desktop that ends, or a service manager, asks every process of it: no file stays behind then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        engine.run()
        if channel.error is not None:
            channel.send([Failed(None, channel.error.code, channel.error.message)])
            return 2
    except BrokenPipeError:
        # Nobody reads the results any more: the parent has gone.
        return 0
    finally:
        channel.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
