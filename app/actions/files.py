"""The user's own files, found by their spoken names. One worker thread at a time.

Looked through are the user's folders and what lies openly in the home folder; nothing hidden, and no program: a name
that was heard is not enough to run something.
"""

from __future__ import annotations

import mimetypes
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from sayso.app.actions.base import Done, Family, Job, Receipt
from sayso.app.actions.desktop.base import check
from sayso.app.actions.errors import ActionError
from sayso.app.actions.folders import for_people, user_folder
from sayso.app.actions.opening import FOLDER, Opener
from sayso.app.commands.names import Ambiguous, Found, Named, resolve

_FOLDERS = ("documents", "desktop", "downloads", "pictures", "music", "videos")
_DEEPEST = 5
"""Folders within folders that are looked through."""
_MOST = 20_000
"""Files that are looked at; more would take longer than anybody waits."""
_PROGRAMS = frozenset({".appimage", ".bat", ".cmd", ".com", ".desktop", ".exe", ".jar", ".msi", ".py", ".run", ".sh"})


class Files(Family):
    """“Open the file called shopping list”, “find my file tax report”."""

    family = "files"

    def __init__(self, opener: Opener, environment: Mapping[str, str]) -> None:
        """``environment`` tells where the user's folders are."""
        self._opener = opener
        self._environment = environment

    def perform(self, job: Job) -> Done:
        file = self._find(job.match.slots["query"], job.halt)
        if job.match.command.verb == "find":
            return self._show(file, job.halt)
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if not self._opener.open(file, kind, f"The program for {file.name}", job.halt):
            raise ActionError("no_program", f"No program here opens {file.name}. Install one and say it again.")
        where = for_people(file, self._environment)
        return Done(f"{where} was handed to its program", Receipt.SENT, title=f"Open {file.name}")

    def _show(self, file: Path, halt: threading.Event) -> Done:
        """Where it is, and its folder where something can show it."""
        title, where = f"Find {file.name}", for_people(file, self._environment)
        if self._opener.open(file.parent, FOLDER, "The file manager", halt):
            return Done(f"{where}; its folder was handed to the file manager", title=title)
        return Done(where, title=title)

    def _find(self, spoken: str, halt: threading.Event) -> Path:
        """The file that was meant, of several with one name the one changed last."""
        files = sorted(self._files(halt), key=_changed, reverse=True)
        found = resolve(spoken, [Named(str(file), file.name, (file.stem, file.name)) for file in files])
        if isinstance(found, Found):
            return Path(found.named.key)
        if isinstance(found, Ambiguous):
            first, second = found.first.title, found.second.title
            raise ActionError("ambiguous_file", f"“{spoken}” may be {first} or {second}. Say which one.")
        nearest = f" Did you mean {found.nearest.title}?" if found.nearest else ""
        raise ActionError("unknown_file", f"No file called “{spoken}” is in your folders.{nearest}")

    def _files(self, halt: threading.Event) -> Iterator[Path]:
        home = user_folder("home", self._environment)
        folders = dict.fromkeys(user_folder(kind, self._environment) for kind in _FOLDERS)
        seen = 0
        for folder, depth in ((home, 0), *((each, _DEEPEST) for each in folders if each != home)):
            for file in _within(folder, depth):
                check(halt)
                seen += 1
                if seen > _MOST:
                    return
                yield file


def _within(folder: Path, depth: int) -> Iterator[Path]:
    """Files of a folder and of those in it; what may not be read is passed over, links to folders are not followed."""
    inner = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    inner.append(Path(entry.path))
                elif Path(entry.name).suffix.lower() not in _PROGRAMS:
                    yield Path(entry.path)
    except OSError:
        return
    if depth:
        for each in inner:
            yield from _within(each, depth - 1)


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
