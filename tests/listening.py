"""The listener in a process of its own, for tests: what it tells comes as JSON lines."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bounded import child, read_line
from virtual_sound import VirtualSound

PROGRAM = Path(__file__).parent / "app" / "audio" / "listening_program.py"


@dataclass
class Listening:
    """The listener in a process of its own, since PortAudio belongs to a process as a whole."""

    process: subprocess.Popen[bytes]
    lines: list[dict[str, Any]] = field(default_factory=list)

    def until(self, condition: Callable[[dict[str, Any]], bool], what: str, seconds: float = 25.0) -> dict[str, Any]:
        """The next event that fulfils the condition."""
        assert self.process.stdout is not None
        while True:
            line: dict[str, Any] = json.loads(read_line(self.process.stdout.fileno(), what, seconds))
            self.lines.append(line)
            if condition(line):
                return line

    def until_state(self, state: str, name: str = "") -> dict[str, Any]:
        return self.until(
            lambda line: line["event"] == "microphone" and line["state"] == state and name in line["name"], state
        )

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]

    @property
    def states(self) -> list[str]:
        return [line["state"] for line in self.events("microphone")]


@contextlib.contextmanager
def listening(sound: VirtualSound, folder: Path, *arguments: str) -> Iterator[Listening]:
    command = [sys.executable, PROGRAM, *arguments]
    log = folder / "listener.log"
    with child(command, sound.environment, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Listening(process)
