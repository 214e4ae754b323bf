"""The user's folders in the file manager. One worker thread at a time.

Source: freedesktop.org xdg-user-dirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.errors import ActionError
from sayso.app.actions.opening import FOLDER, Opener

_KINDS = {
    "downloads": ("DOWNLOAD", "Downloads"),
    "documents": ("DOCUMENTS", "Documents"),
    "pictures": ("PICTURES", "Pictures"),
    "music": ("MUSIC", "Music"),
    "videos": ("VIDEOS", "Videos"),
    "desktop": ("DESKTOP", "Desktop"),
}
_LINE = re.compile(r'^XDG_(\w+)_DIR="((?:\$HOME)?)(/?[^"]*)"$', re.MULTILINE)


class Folders(Family):
    """“Open downloads”: through ``xdg-open`` or a file manager that is installed."""

    family = "folders"

    def __init__(self, opener: Opener, environment: Mapping[str, str]) -> None:
        """``environment`` tells where the user's folders are."""
        self._opener = opener
        self._environment = environment

    def perform(self, job: Job) -> Done:
        kind = job.match.slots["folder"]
        folder = user_folder(kind, self._environment)
        if not folder.is_dir():
            raise ActionError("no_such_folder", f"There is no folder {folder}.")
        if not self._opener.open(folder, FOLDER, "The file manager", job.halt):
            raise ActionError("no_file_manager", "No file manager could be started. Install one and say it again.")
        return Done(f"{for_people(folder, self._environment)} was handed to the file manager", Receipt.SENT)


def for_people(path: Path, environment: Mapping[str, str]) -> str:
    """A path as it is told: what is in the home folder begins with “~”, which is shorter and gives no name away."""
    home = user_folder("home", environment)
    return f"~/{path.relative_to(home)}" if home in path.parents else str(path)


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
