"""Handing a folder or a file to the program that shows such things. One worker thread at a time.

``xdg-open`` knows best which one the user has chosen; where it is missing or fails, an application that says it takes
this kind is started.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from sayso.app.actions.applications import Applications
from sayso.app.actions.entries import commands
from sayso.app.actions.launch import Launcher

FOLDER = "inode/directory"
_FAILS_WITHIN_S = 2.0
"""Openers that fail do so at once; programs that run on are taken to show what they were given."""


class Opener:
    def __init__(self, launcher: Launcher, applications: Applications) -> None:
        self._launcher = launcher
        self._applications = applications

    def open(self, path: Path, kind: str, title: str, halt: threading.Event) -> bool:
        """Hand over what is at ``path``, of the MIME type ``kind``; False where no program took it.

        ``title`` names that program in errors: “The file manager”. Raises ActionError where it cannot be started.
        """
        folder = str(path if kind == FOLDER else path.parent)
        for command in self._commands(path, kind):
            if shutil.which(command[0], path=self._launcher.environment.get("PATH")):
                child = self._launcher.start(command, title, folder)
                if not self._launcher.wait_for_exit(child, _FAILS_WITHIN_S, halt):
                    return True
        return False

    def _commands(self, path: Path, kind: str) -> list[list[str]]:
        takers = [entry for entry in self._applications.entries() if kind in entry.schemes]
        return [["xdg-open", str(path)], *commands(takers, str(path))]
