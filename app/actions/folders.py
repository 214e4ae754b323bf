"""The user's folders in the file manager. One worker thread at a time.

Source: freedesktop.org xdg-user-dirs.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

from sayso.app.actions.applications import Applications
from sayso.app.actions.base import Done, Job, Receipt
from sayso.app.actions.entries import arguments
from sayso.app.actions.errors import ActionError
from sayso.app.actions.launch import Launcher
from sayso.app.commands.matching import Match
from sayso.app.commands.names import Named

_FAILS_WITHIN_S = 2.0
"""Openers that fail do so at once; file managers that run on are taken to show the folder."""
_KINDS = {
    "downloads": ("DOWNLOAD", "Downloads"),
    "documents": ("DOCUMENTS", "Documents"),
    "pictures": ("PICTURES", "Pictures"),
    "music": ("MUSIC", "Music"),
    "videos": ("VIDEOS", "Videos"),
    "desktop": ("DESKTOP", "Desktop"),
}
_LINE = re.compile(r'^XDG_(\w+)_DIR="((?:\$HOME)?)(/?[^"]*)"$', re.MULTILINE)


class Folders:
    """“Open downloads”: through ``xdg-open`` or a file manager that is installed."""

    family = "folders"

    def __init__(self, launcher: Launcher, applications: Applications) -> None:
        self._launcher = launcher
        self._applications = applications

    def describe(self, match: Match) -> str:
        return match.title

    def perform(self, job: Job) -> Done:
        kind = job.match.slots["folder"]
        folder = user_folder(kind, self._launcher.environment)
        if not folder.is_dir():
            raise ActionError("no_such_folder", f"There is no folder {folder}.")
        self._open(folder, job.halt)
        return Done(f"{folder} was handed to the file manager", Receipt.SENT)

    def names(self) -> list[Named]:
        return []

    def _open(self, folder: Path, halt: threading.Event) -> None:
        path = self._launcher.environment.get("PATH")
        commands = [["xdg-open", str(folder)]]
        for entry in self._applications.entries():
            if "inode/directory" in entry.schemes:
                commands.append(arguments(entry, [str(folder)]))
        for command in commands:
            if shutil.which(command[0], path=path):
                child = self._launcher.start(command, "The file manager", str(folder))
                if not self._launcher.wait_for_exit(child, _FAILS_WITHIN_S, halt):
                    return
        raise ActionError("no_file_manager", "No file manager could be started. Install one and say it again.")


def user_folder(kind: str, environment: Mapping[str, str]) -> Path:
    """Where the user keeps ``kind``, or “home”; the usual place under the home folder unless it was changed."""
    home = Path(environment.get("HOME") or Path.home())
    if kind == "home":
        return home
    key, usual = _KINDS[kind]
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "user-dirs.dirs"
    try:
        lines = config.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        lines = ""
    for name, at_home, rest in _LINE.findall(lines):
        if name == key:
            return home / rest.lstrip("/") if at_home else Path(rest)
    return home / usual
