"""Wayland sessions: no keys and no windows, but text can be put on the clipboard. One worker thread at a time."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Mapping

from sayso.app.actions.desktop.base import check
from sayso.app.actions.desktop.none import WAYLAND, Refusing
from sayso.app.actions.errors import ActionError

_COPY_S = 3.0


class Wayland(Refusing):
    """Copies through wl-clipboard where that is installed: a program without a window in front may not do it alone."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__("wayland", WAYLAND)
        self._environment = dict(environment)

    def copy(self, text: str, halt: threading.Event) -> None:
        """Put ``text`` on the clipboard, where wl-copy keeps it in the background until something else is copied."""
        program = shutil.which("wl-copy", path=self._environment.get("PATH"))
        if program is None:
            raise ActionError(
                "no_clipboard",
                "Install wl-clipboard to get the text on the clipboard; until then copy it from the transcript.",
            )
        command = [program, "--type", "text/plain;charset=utf-8"]
        silent = subprocess.DEVNULL
        with subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=silent, stderr=silent
        ) as process:
            try:
                _hand_over(process, text.encode(), halt)
            finally:
                process.kill()


def _hand_over(process: subprocess.Popen[bytes], text: bytes, halt: threading.Event) -> None:
    """Wait until wl-copy has the text and has gone to the background."""
    until = time.monotonic() + _COPY_S
    remaining: bytes | None = text
    while True:
        try:
            process.communicate(remaining, timeout=0.05)
        except subprocess.TimeoutExpired:
            check(halt)
            remaining = None
            if time.monotonic() > until:
                raise ActionError("no_clipboard", "The session did not take the text for its clipboard.") from None
            continue
        if process.returncode != 0:
            raise ActionError("no_clipboard", "The session did not take the text for its clipboard.")
        return
