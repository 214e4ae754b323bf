"""One engine child process: spawned with pipes, read and written on the event loop, ended for certain.

Its standard error is ours; its standard output carries frames only. It ends by itself when its standard input does.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence

from sayso.engine import messages
from sayso.engine.framing import Decoder, FramingError, encode

READ_BYTES = 65_536
HIGH_WATER_BYTES = 262_144
"""More than this waits in our own queues, where it is counted, and not in the pipe's buffer."""


def engine_command() -> tuple[str, ...]:
    return (sys.executable, "-m", "sayso.engine")


class EngineProcess:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._stdin.transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)

    @classmethod
    async def spawn(cls, command: Sequence[str]) -> EngineProcess:
        """Start the child; raises ``OSError`` when the system cannot."""
        return cls(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE))

    @property
    def pid(self) -> int:
        return self._process.pid

    async def send(self, message: messages.Down) -> None:
        """Write one message and wait while the pipe is full; raises ``ConnectionError`` when the child is gone."""
        self._stdin.write(encode(message))
        await self._stdin.drain()

    async def receive(self) -> AsyncIterator[messages.Up]:
        """Messages until the child's output ends; raises ``FramingError`` on anything that is none."""
        decoder: Decoder[messages.Up] = Decoder(messages.Up)
        while data := await self._stdout.read(READ_BYTES):
            for message in decoder.feed(data):
                yield message
        if decoder.pending_bytes:
            raise FramingError("cut", "The engine's output ended within a message.")

    def retire(self, grace_s: float) -> None:
        """Close its input, which ends it, and kill it if it is still there after ``grace_s``. Does not wait."""
        self._stdin.close()
        asyncio.get_running_loop().call_later(grace_s, self.kill)

    def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def end(self, grace_s: float) -> str:
        """Close its input, wait, and kill it when it does not end; says how it ended."""
        self._stdin.close()
        try:
            async with asyncio.timeout(grace_s):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        return exit_text(self._process.returncode)


def exit_text(returncode: int | None) -> str:
    """In words, how a process ended."""
    if returncode is None:
        return "is still running"
    if returncode < 0:
        name = next((s.name for s in signal.Signals if s == -returncode), str(-returncode))
        return f"was ended by {name}"
    return f"ended with status {returncode}"
