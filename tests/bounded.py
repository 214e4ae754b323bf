"""Child processes and waits of the tests: every child is ended, every wait has a limit. Runs in the calling thread."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def wait_for(condition: Callable[[], Value], what: str, seconds: float = 20.0, pause: float = 0.02) -> Value:
    """The first true value of `condition`; AssertionError naming `what` when none comes within `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain: {what} (last seen: {value!r})"
        time.sleep(pause)


def read_line(descriptor: int, what: str, seconds: float = 20.0) -> str:
    """One line from a pipe, without its line end; AssertionError when it does not come or the pipe ends first."""
    deadline = time.monotonic() + seconds
    received = b""
    while not received.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"waited {seconds:g} s in vain: {what} (read so far: {received!r})"
        piece = os.read(descriptor, 1)
        assert piece, f"ended before a line came: {what} (read so far: {received!r})"
        received += piece
    return received.decode().rstrip("\n")


@contextlib.contextmanager
def child(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    log: Path,
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    pass_fds: Sequence[int] = (),
    grace_seconds: float = 5.0,
) -> Iterator[subprocess.Popen[bytes]]:
    """A running program that is ended with the block, and by the kernel when this process dies without leaving it.

    Its output goes to `log` unless `stdout` says otherwise. It is asked to end (SIGTERM) and has `grace_seconds`; then
    its whole process group is killed.
    """
    guarded = ["setpriv", "--pdeathsig", "TERM", "--", *map(str, command)]
    with log.open("ab") as output:
        process = subprocess.Popen(
            guarded,
            env=dict(environment),
            stdin=stdin,
            stdout=output if stdout is None else stdout,
            stderr=output,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end(process, grace_seconds)


def end(process: subprocess.Popen[bytes], grace_seconds: float = 5.0) -> None:
    """End a child that `child` started, and whatever is left of its process group."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(5)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
