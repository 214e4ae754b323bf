"""``sayso models`` as a child process of the desktop, which itself imports nothing of the engine.

One daemon thread reads what the child writes; the rest runs on the event loop. The child ends when our end of its
standard input closes, however we end.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from sayso.app.errors import AppError

COMMAND = (sys.executable, "-m", "sayso.app.cli.main", "models")
_END_S = 5.0

T = TypeVar("T")


class ModelCommandError(AppError):
    """Codes: models_missing, models_failed, models_slow, and those of ``sayso models`` itself."""


class _Fault(msgspec.Struct):
    code: str
    message: str


class _Line(msgspec.Struct):
    error: _Fault | None = None


async def run(
    arguments: Sequence[str],
    on_line: Callable[[bytes], None],
    timeout_s: float,
    command: Sequence[str] = COMMAND,
) -> None:
    """Run ``sayso models`` with these arguments to its end; ``on_line`` gets each line of JSON, on the event loop.

    Cancelling ends the child. Raises ModelCommandError.
    """
    child = _start([*command, *arguments])
    try:
        lines = _lines_of(child)
        async with asyncio.timeout(timeout_s):
            while line := await lines.get():
                _refuse(line)
                on_line(line)
            if await asyncio.to_thread(child.wait, _END_S):
                raise ModelCommandError("models_failed", "“sayso models” failed; its reason is in the log.")
    except subprocess.TimeoutExpired as error:
        raise ModelCommandError("models_failed", "“sayso models” said all and did not end; it was ended.") from error
    except TimeoutError as error:
        raise ModelCommandError("models_slow", f"It was not done within {timeout_s:g} s and was given up.") from error
    finally:
        _end(child)


def _lines_of(child: subprocess.Popen[bytes]) -> asyncio.Queue[bytes]:
    """What the child writes, line by line as it comes; an empty line is the end. Read on a thread of its own."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def follow() -> None:
        assert child.stdout is not None
        # The loop may have ended, and with it whoever wanted to know.
        with contextlib.suppress(RuntimeError):
            for line in child.stdout:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, b"")

    threading.Thread(target=follow, name="sayso models", daemon=True).start()
    return lines


def read(line: bytes, kind: type[T]) -> T:
    """A line as a value; raises ModelCommandError ``models_failed``."""
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError as error:
        raise ModelCommandError("models_failed", f"“sayso models” answered what cannot be read ({error}).") from error


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise ModelCommandError("models_missing", f"“sayso models” cannot be started: {error}.") from error


def _refuse(line: bytes) -> None:
    fault = read(line, _Line).error
    if fault is not None:
        raise ModelCommandError(fault.code, fault.message)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close its input, which ends it, and see to it that it has ended; waits only in a thread of its own."""
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()
    if child.poll() is None:
        threading.Thread(target=_wait, args=(child,), name="end of sayso models").start()


def _wait(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
