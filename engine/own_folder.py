"""Looks into a folder that somebody chose: which model is in it, how large it is, and whether all of it is there.

Nothing is loaded: config, vocabulary and the tables at the head of the weights are read. Imports no torch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.engine.catalog import ModelFiles, in_folder
from sayso.engine.catalog_entries import MANY, VOXTRAL_LANGUAGES, Entry
from sayso.engine.errors import EngineError
from sayso.engine.modules import ctranslate2
from sayso.engine.modules.tekken import Tekken
from sayso.engine.modules.voxtral_shape import read_shape
from sayso.engine.modules.whisper_shape import shape_from_config

_BIN = "model.bin"
_INDEX = "model.safetensors.index.json"
_LONGEST_HEADER = 100 * 10**6
_ENGLISH_END = 50256
"""The end token of Whisper's vocabulary that is English only."""


@dataclass(frozen=True)
class OwnModel:
    """A model that hears, in a folder of somebody's own. Its entry says what there is to know of it."""

    files: ModelFiles
    entry: Entry


def look_into(name: str) -> OwnModel:
    """The model in the folder ``name``.

    Raises EngineError: ``folder_missing``, ``folder_unreadable``, ``model_not_found``, ``model_unsupported``,
    ``model_cannot_hear``, ``model_damaged`` or ``model_truncated``, each with what is wrong and what to do.
    """
    folder = Path(name).expanduser()
    try:
        return _look_into(folder)
    except PermissionError as error:
        raise EngineError(
            "folder_unreadable", f"{error.filename or folder} may not be read by you: change its permissions."
        ) from error
    except OSError as error:
        raise EngineError("folder_unreadable", f"{folder} cannot be read: {error.strerror or error}.") from error


def _look_into(folder: Path) -> OwnModel:
    if not folder.exists():
        raise EngineError("folder_missing", f"There is no folder {folder}. If it is on another disk, connect that.")
    if not folder.is_dir():
        raise EngineError("folder_missing", f"{folder} is a file. Choose the folder that it lies in.")
    next(folder.iterdir(), None)
    files = in_folder(folder, folder.resolve().name)
    if files.kind == "causal":
        raise EngineError(
            "model_cannot_hear",
            f"The model in {folder} continues text and cannot hear: it is of no use for listening. A server takes such "
            "a model beside one that hears: sayso serve --text-model.",
        )
    parameters, languages = _whisper(folder) if files.kind == "whisper" else _voxtral(folder)
    stored = sum(path.stat().st_size for path in _weight_files(folder))
    return OwnModel(files, Entry(files.name, files.kind, "", parameters, stored, languages, licence=""))


def _whisper(folder: Path) -> tuple[int, tuple[str, ...]]:
    """How many weights it has, and its languages."""
    if (folder / _BIN).is_file():
        variables = ctranslate2.read(folder / _BIN)
        if variables.specification != "WhisperSpec":
            raise EngineError(
                "model_unsupported", f"{folder} holds a {variables.specification} of CTranslate2, which is no Whisper."
            )
        # A second name for a variable is the same array.
        parameters = sum(int(each.size) for each in {id(each): each for each in variables.values.values()}.values())
        _json(folder / "config.json")
    else:
        shape_from_config(_json(folder / "config.json"), {})
        parameters = _parameters(folder)
    return parameters, _whisper_languages(folder / "tokenizer.json")


def _voxtral(folder: Path) -> tuple[int, tuple[str, ...]]:
    read_shape(folder)
    Tekken.load(folder)
    return _parameters(folder), VOXTRAL_LANGUAGES


def _whisper_languages(path: Path) -> tuple[str, ...]:
    """English for the vocabulary that has nothing else."""
    added = {str(each.get("content")): int(each.get("id", 0)) for each in _json(path).get("added_tokens", ())}
    for wanted in ("<|startoftranscript|>", "<|endoftext|>"):
        if wanted not in added:
            raise EngineError("model_damaged", f"{path} has no {wanted}, so it is not of a Whisper model.")
    return ("en",) if added["<|endoftext|>"] == _ENGLISH_END else MANY


def _weight_files(folder: Path) -> list[Path]:
    if (folder / _BIN).is_file():
        return [folder / _BIN]
    if not (folder / "config.json").is_file():
        return [folder / "consolidated.safetensors"]
    if (folder / _INDEX).is_file():
        named = _json(folder / _INDEX).get("weight_map", {})
        return [folder / name for name in sorted(set(map(str, named.values())))]
    return [folder / "model.safetensors"]


def _parameters(folder: Path) -> int:
    """All weights of some safetensors files, whose tables are read and whose lengths are compared with them."""
    return sum(math.prod(shape) for path in _weight_files(folder) for shape in _shapes(path))


def _shapes(path: Path) -> Iterator[list[int]]:
    if not path.is_file():
        raise EngineError("model_damaged", f"{path} is missing: copy or fetch the model again.")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        head = file.read(length) if 0 < length <= _LONGEST_HEADER else b""
    try:
        table = json.loads(head)
        tensors = [each for name, each in table.items() if name != "__metadata__"]
        ends = [int(each["data_offsets"][1]) for each in tensors]
        shapes = [[int(size) for size in each["shape"]] for each in tensors]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise EngineError("model_damaged", f"{path} is no safetensors file, or is damaged at its head.") from error
    if path.stat().st_size < 8 + length + max(ends, default=0):
        raise EngineError("model_truncated", f"{path} is cut off: copy or fetch the model again.")
    yield from shapes


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError as error:
        raise EngineError("model_damaged", f"{path} is missing: copy or fetch the model again.") from error
    except (ValueError, TypeError) as error:
        raise EngineError("model_damaged", f"{path} cannot be read ({error}).") from error
