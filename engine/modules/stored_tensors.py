"""The tensors of a model's safetensors files, one file or several, read one by one and checked by name and shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torch import Tensor

from sayso.engine.errors import EngineError

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


def stored_files(folder: Path) -> list[Path]:
    """The files with the weights of a folder in transformers' layout, whole or in shards.

    Raises EngineError ``model_damaged`` for an index that cannot be read.
    """
    index = folder / INDEX
    if not index.is_file():
        return [folder / WHOLE]
    try:
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
        return [folder / name for name in names]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineError("model_damaged", f"{index} cannot be read: {error!r}.") from error


class StoredTensors:
    """The tensors of some files under the names that ``renamed`` gives them; each call of ``tensor`` reads one.

    Raises EngineError ``model_not_found``, ``model_damaged`` or ``extra_missing``.
    """

    def __init__(self, folder: Path, paths: Iterable[Path], renamed: Callable[[str], str] = str) -> None:
        self._folder = folder
        self._files: dict[Path, Any] = {}
        self._found: dict[str, tuple[Path, str]] = {}
        for path in paths:
            for stored in self._open(path).keys():  # noqa: SIM118 - no dictionary, it has only keys()
                self._found[renamed(stored)] = (path, stored)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor as it is stored. Raises EngineError ``model_damaged`` when it is missing or of another shape."""
        if name not in self._found:
            raise EngineError("model_damaged", f"{self._folder} has no tensor {name}: fetch the model again.")
        path, stored = self._found[name]
        values: Tensor = self._open(path).get_tensor(stored)
        if tuple(values.shape) != shape:
            raise EngineError(
                "model_damaged",
                f"The tensor {stored} in {path} has the shape {tuple(values.shape)}, but its sizes say {shape}.",
            )
        return values

    def _open(self, path: Path) -> Any:
        if path not in self._files:
            if not path.is_file():
                raise EngineError("model_not_found", f"{path} is missing: fetch the model again.")
            try:
                from safetensors import SafetensorError, safe_open
            except ImportError as error:
                raise EngineError(
                    "extra_missing", "Reading safetensors files needs one more package: pip install 'sayso[hub]'."
                ) from error
            try:
                self._files[path] = safe_open(path, framework="pt")
            except (SafetensorError, OSError) as error:
                raise EngineError("model_damaged", f"{path} is cut off or damaged: {error}.") from error
        return self._files[path]
