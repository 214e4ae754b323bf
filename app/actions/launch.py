"""Starting programs that outlive us: own session, no shared pipes. One worker thread at a time."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError


class Launcher:
    """Starts programs detached and collects those that have ended."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(os.environ if environment is None else environment)
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str], title: str, folder: str = "") -> subprocess.Popen[bytes]:
        """Start a program; ActionError where it is missing or may not be run."""
        self._children = [child for child in self._children if child.poll() is None]
        try:
            child = subprocess.Popen(
                list(command),
                env=self.environment,
                cwd=folder if folder and Path(folder).is_dir() else Path.home(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise ActionError(
                "program_missing", f"{title} cannot be started: its program is not installed. Install it again."
            ) from error
        except OSError as error:
            raise ActionError("not_started", f"{title} cannot be started: {error.strerror}.") from error
        self._children.append(child)
        return child

    def wait_for_exit(self, child: subprocess.Popen[bytes], seconds: float, halt: threading.Event) -> int | None:
        """The exit status, or None where the program still runs after ``seconds``."""
        until = time.monotonic() + seconds
        while child.poll() is None and time.monotonic() < until:
            check(halt)
            halt.wait(0.02)
        return child.poll()
