"""Pictures of the screen, kept in the user's folder for pictures. One worker thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from sayso.app.actions.base import Done, Family, Job, Revert
from sayso.app.actions.desktop.base import Backend
from sayso.app.actions.errors import ActionError
from sayso.app.actions.folders import for_people, user_folder


class Screenshot(Family):
    """“Take a screenshot”; undo deletes the file."""

    family = "screenshot"

    def __init__(
        self, backend: Backend, environment: Mapping[str, str], now: Callable[[], datetime] = datetime.now
    ) -> None:
        self._backend = backend
        self._environment = environment
        self._now = now

    def perform(self, job: Job) -> Done:
        picture = self._backend.picture(job.halt)
        folder = user_folder("pictures", self._environment)
        try:
            file = _new_file(folder, f"Screenshot {self._now():%Y-%m-%d %H-%M-%S}", picture)
        except OSError as error:
            raise ActionError("not_saved", f"The picture cannot be saved in {folder}: {error.strerror}.") from error
        return Done(f"saved as {for_people(file, self._environment)}", revert=_deleting(file))


def _new_file(folder: Path, name: str, content: bytes) -> Path:
    """Write a file that was not there before."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("", *(f" ({number})" for number in range(2, 100))):
        file = folder / f"{name}{ending}.png"
        try:
            opened = file.open("xb")
        except FileExistsError:
            continue
        try:
            with opened:
                opened.write(content)
        except OSError:
            # On a full disk a part of a picture is none.
            file.unlink(missing_ok=True)
            raise
        return file
    raise ActionError("not_saved", f"There are too many pictures called “{name}”.")


def _deleting(file: Path) -> Revert:
    def revert(halt: threading.Event) -> Done:
        try:
            file.unlink()
        except OSError as error:
            raise ActionError("not_deleted", f"{file} cannot be deleted: {error.strerror}.") from error
        return Done(f"{file.name} is deleted")

    return revert
