"""The models that were fetched: one folder each, complete or not there. Imports neither torch nor the hub's library.

A folder under ``root`` is named ``owner--model``. While a model is fetched it is ``owner--model.partial``, which keeps
what came so far; it gets its name when every file is there and was checked.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PARTIAL = ".partial"
ROOT_VARIABLE = "SAYSO_MODELS"


def default_root() -> Path:
    """Where models are kept: ``SAYSO_MODELS``, else the user's data folder."""
    chosen = os.environ.get(ROOT_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("sayso")) / "models"


class ModelStore:
    """See the module."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else default_root()

    def folder(self, repository: str) -> Path:
        """Where a model is or will be."""
        return self.root / repository.replace("/", "--")

    def partial(self, repository: str) -> Path:
        """Where it is while it is fetched."""
        whole = self.folder(repository)
        return whole.with_name(whole.name + PARTIAL)

    def holds(self, repository: str) -> bool:
        return self.folder(repository).is_dir()

    def repositories(self) -> list[str]:
        """Complete models, by their ids on the hub."""
        if not self.root.is_dir():
            return []
        names = sorted(path.name for path in self.root.iterdir() if path.is_dir())
        return [name.replace("--", "/", 1) for name in names if "--" in name and not name.endswith(PARTIAL)]

    def size(self, repository: str) -> int:
        """Bytes on disk, what was fetched in part included."""
        folders = (self.folder(repository), self.partial(repository))
        return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())

    def remove(self, repository: str) -> bool:
        """Delete a model and what was fetched of it; False when there was nothing."""
        found = [folder for folder in (self.folder(repository), self.partial(repository)) if folder.is_dir()]
        for folder in found:
            shutil.rmtree(folder)
        return bool(found)
