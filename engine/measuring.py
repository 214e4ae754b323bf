"""``python -m sayso.engine.measuring MODEL DEVICE THREADS``: one line of JSON with a model's speed, or with an error.

A process of its own, since measuring needs torch and all of a model's memory; it ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import asdict

import msgspec

from sayso.engine.errors import EngineError

_STDIN = 0
_ABANDONED = 130


def main() -> int:
    """The exit status is 0 with a speed, 1 with an error."""
    model, device, threads = sys.argv[1:]
    threading.Thread(target=_end_with_input, name="stdin", daemon=True).start()
    from sayso.engine.speed import measure

    try:
        _say(asdict(measure(model, device, int(threads))))
    except EngineError as error:
        _say({"error": {"code": error.code, "message": error.message}})
        return 1
    return 0


def _end_with_input() -> None:
    while os.read(_STDIN, 4096):
        pass
    os._exit(_ABANDONED)


def _say(fields: dict[str, object]) -> None:
    sys.stdout.write(msgspec.json.encode(fields).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
