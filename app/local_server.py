"""The desktop's own server: a child process that is spawned early, found by the one line it writes, and ended by us.

``spawn`` only starts the process, so that its engine loads while Qt is imported. One daemon thread waits for the
process's output; the rest runs on the event loop. The child ends when our end of its standard input closes, however we
end, so it can never be orphaned.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

import msgspec

from sayso.app.errors import AppError
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.snapshot import ServerKind

_START_TIMEOUT_S = 30.0
_END_TIMEOUT_S = 5.0
_SHORT_LIFE_S = 10.0
"""A server that ends sooner than this after its start is counted as failing."""
_MOST_FAILURES = 3


class LocalServerError(AppError):
    """Codes: server_missing, server_failed, server_silent, and those the server itself reports before it listens."""


class _Fault(msgspec.Struct):
    code: str
    message: str


class _Report(msgspec.Struct):
    """The one line a server writes: where it listens, or why it does not."""

    url: str = ""
    error: _Fault | None = None


class _Process:
    """One child and the thread that reads what it writes."""

    def __init__(self, command: Sequence[str], config: bytes, limits: Mapping[str, float]) -> None:
        self.limits = limits
        self.started_at = time.monotonic()
        self.report: Future[_Report] = Future()
        try:
            # A session of its own: Ctrl+C in a terminal is for us, who still want the last words from the server.
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise LocalServerError("server_missing", f"The local server cannot be started: {error}.") from error
        threading.Thread(target=self._follow, args=(config,), name="local server", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def url(self) -> str:
        """Where it listens; empty before it says so."""
        return self.report.result().url if self.report.done() else ""

    def _follow(self, config: bytes) -> None:
        """Hand over the configuration, read the report, and then keep the pipe empty until it ends."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(config + b"\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
            self.report.set_result(msgspec.json.decode(line, type=_Report) if line else _Report())
        except (OSError, ValueError, msgspec.DecodeError):
            self.report.set_result(_Report())
        while self._child.stdout.read(4096):
            pass

    def close(self) -> None:
        """Close its input, which asks it to end."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.close()
        except BrokenPipeError:
            return

    def wait(self, timeout_s: float) -> None:
        """Wait for its end; beyond the time it is killed."""
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(timeout_s)


class LocalServer:
    """Owns at most one server process; ``endpoint`` is a source for ``RealtimeClient``."""

    def __init__(
        self,
        model: str = "auto",
        device: str = "auto",
        threads: int = 0,
        command: Sequence[str] | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> None:
        """``command`` replaces ``python -m sayso.server``; ``limits`` are the server's own, by its names for them."""
        self._key = secrets.token_urlsafe(24)
        self._config = {"host": "127.0.0.1", "port": 0, "key": self._key, "model": model, "device": device}
        self._config["threads"] = threads
        self.limits: Mapping[str, float] = dict(limits or {})
        """What the next process is started with; one that runs has to be told, see ``knows``."""
        self._command = list(command or (sys.executable, "-m", "sayso.server"))
        self._process: _Process | None = None
        self._failures = 0

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None and self._process.is_alive else None

    @property
    def started_at(self) -> float:
        """When the newest process was started, on the clock that only goes forward; 0 before."""
        return self._process.started_at if self._process is not None else 0.0

    @property
    def running(self) -> Endpoint | None:
        """Where the server listens, if it runs and does so by now; starts nothing."""
        if self._process is None or not self._process.is_alive or not self._process.url:
            return None
        return Endpoint(ServerKind.EMBEDDED, self._process.url, self._key)

    @property
    def knows(self) -> Mapping[str, float]:
        """The limits that the process of now has; those of the next one when there is none."""
        return self._process.limits if self.pid is not None and self._process is not None else self.limits

    def told(self, endpoint: Endpoint, limits: Mapping[str, float]) -> None:
        """The process that listens there has been given these limits."""
        if self._process is not None and self.running == endpoint:
            self._process.limits = limits

    def spawn(self) -> None:
        """Start the process unless it runs; waits for nothing. Raises LocalServerError ``server_missing``."""
        if self._process is None or not self._process.is_alive:
            config = msgspec.json.encode({**self._config, **self.limits})
            self._process = _Process(self._command, config, self.limits)

    def another(self, model: str, device: str, threads: int) -> LocalServer:
        """A server of the same kind with another choice of engine; it is not started."""
        return LocalServer(model, device, threads, self._command, self.limits)

    def exchange(self, other: LocalServer) -> None:
        """Take over another's choice and process, and leave it ours, to be closed."""
        ours = (self._key, self._config, self._process, self._failures)
        self._key, self._config, self._process, self._failures = (
            other._key,
            other._config,
            other._process,
            other._failures,
        )
        other._key, other._config, other._process, other._failures = ours

    async def endpoint(self) -> Endpoint:
        """Where the server listens, as soon as it does; starts it again when it has ended.

        Raises LocalServerError when it does not come up; after three failures in a row the fault says that it keeps
        failing, and each further call tries once more.
        """
        if self._process is not None and not self._process.is_alive:
            short = time.monotonic() - self._process.started_at < _SHORT_LIFE_S
            self._failures = self._failures + 1 if short else 1
        self.spawn()
        assert self._process is not None
        try:
            # Shielded: who stops waiting must not cancel the report for the others.
            async with asyncio.timeout(_START_TIMEOUT_S):
                report = await asyncio.shield(asyncio.wrap_future(self._process.report))
        except TimeoutError as error:
            await self.close()
            raise LocalServerError("server_silent", "The local server did not start in time. Try again.") from error
        if report.error is not None:
            raise LocalServerError(report.error.code, report.error.message)
        if not report.url:
            raise LocalServerError("server_failed", self._ended_at_once())
        return Endpoint(ServerKind.EMBEDDED, report.url, self._key)

    async def close(self) -> None:
        """End the server and wait for its end, which is bounded."""
        process, self._process = self._process, None
        if process is not None:
            process.close()
            await asyncio.to_thread(process.wait, _END_TIMEOUT_S)

    def _ended_at_once(self) -> str:
        again = " again and again" if self._failures >= _MOST_FAILURES else ""
        return f"The local server ended{again} before it was ready. “sayso doctor” shows what is missing."
