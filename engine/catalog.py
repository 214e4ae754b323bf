"""Model names to files on disk: the packaged model, a folder, a name from the hub. Imports no torch.

``tiny.en`` and ``base`` may come as packages (``packaged``), whose hashes are checked; a name of ``catalog_entries`` or
an id such as ``openai/whisper-small`` is fetched from the hub once and then found in the store. ``auto`` is the
installed model that suits the machine best.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.engine.catalog_choice import choose
from sayso.engine.catalog_entries import ENTRIES, Entry, find
from sayso.engine.errors import EngineError
from sayso.engine.machine import this_machine
from sayso.engine.model_store import ModelStore
from sayso.engine.modules.causal_shape import FAMILIES
from sayso.engine.modules.voxtral_shape import is_realtime_params
from sayso.engine.packaged import PACKAGED, PackagedModel, find_packaged

if TYPE_CHECKING:
    from sayso.engine.hub import Progress

logger = logging.getLogger(__name__)

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_ORIGINAL = "consolidated.safetensors"
_KINDS = ("whisper", "voxtral_realtime", "causal")
_PICKLED = "pytorch_model.bin"
_LAYOUTS = ("model.bin", "model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True)
class ModelFiles:
    """Where a model's files are and what kind of runner takes them."""

    kind: str
    folder: Path
    name: str
    weights: tuple[Path, ...] = ()
    """The files that ``model.bin`` was cut into, where it is not in the folder as one."""


def resolve(name: str, device: str = "auto") -> ModelFiles:
    """Find a model by name: ``auto``, a name of the catalogue, a folder, or a hub id; fetches it if need be.

    Raises EngineError: ``model_not_found``, ``model_truncated``, ``model_wrong_hash``, ``model_unsupported``,
    ``model_damaged``, ``extra_missing``, ``hub_unreachable``, ``hub_refused``, ``disk_full`` or ``model_busy``.
    """
    if name == "auto":
        name = automatic(device).name
    packaged, entry = find_packaged(name), find(name)
    if packaged is not None and (packaged.folder is not None or entry is None or not entry.repository):
        return _packaged(packaged)
    found = find_installed(name)
    if found is not None:
        return found
    if entry is not None or (_HUB_ID.fullmatch(name) and not Path(name).exists()):
        return _from_hub(entry.repository if entry is not None else name, name)
    raise EngineError(
        "model_not_found",
        f"There is no model {name!r}. Give a folder that exists, an id of the hub such as openai/whisper-small, "
        f"or one of: auto, {', '.join(entry.name for entry in ENTRIES)}.",
    )


def automatic(device: str = "auto") -> Entry:
    """What ``auto`` is here; the packaged model when nothing is installed, so that its error says what to do."""
    here = installed()
    there = [entry for entry in ENTRIES if entry.hears and entry.name in here]
    if len(there) < 2:
        # Most machines have only the packaged model, and then nothing has to be asked of the machine.
        return there[0] if there else ENTRIES[0]
    return choose(this_machine(device), there)


def installed(store: ModelStore | None = None) -> frozenset[str]:
    """Names of the catalogue whose files are on this machine."""
    store = store or ModelStore()
    packaged = {model.name for model in PACKAGED if model.folder is not None}
    return frozenset(packaged | {entry.name for entry in ENTRIES if entry.repository and store.holds(entry.repository)})


def find_installed(name: str, store: ModelStore | None = None) -> ModelFiles | None:
    """A model's files when they are on this machine: in a folder of that name or in the store."""
    entry, store = find(name), store or ModelStore()
    folder = Path(name).expanduser()
    if entry is None and folder.is_dir():
        return in_folder(folder, folder.resolve().name)
    repository = entry.repository if entry is not None else name
    if _HUB_ID.fullmatch(repository) and store.holds(repository):
        return in_folder(store.folder(repository), name)
    return None


def is_installed(name: str) -> bool:
    """Whether a model can be loaded without fetching anything."""
    return packaged_folder(name) is not None or find_installed(name) is not None


def is_hub_id(name: str) -> bool:
    """Whether a name has the form ``owner/model``."""
    return _HUB_ID.fullmatch(name) is not None


def packaged_folder(name: str) -> Path | None:
    """The folder of a packaged model, if its packages are installed."""
    model = find_packaged(name)
    return model.folder if model is not None else None


def _packaged(model: PackagedModel) -> ModelFiles:
    weights = model.weights()
    cut = len(weights) > 1
    return ModelFiles("whisper", weights[0].parent, model.name, weights if cut else ())


def in_folder(folder: Path, name: str) -> ModelFiles:
    """The model in a folder, by the files in it.

    Raises EngineError ``model_not_found``, ``model_damaged`` or ``model_unsupported``.
    """
    if (folder / "model.bin").is_file():
        return ModelFiles("whisper", folder, name)
    if (folder / _ORIGINAL).is_file() and not (folder / "config.json").is_file():
        return _in_original_layout(folder, name)
    if not any((folder / layout).is_file() for layout in _LAYOUTS):
        old = f" Its {_PICKLED} is of an old form: save it as safetensors." if (folder / _PICKLED).is_file() else ""
        text = f"{folder} holds no model: there is none of {', '.join(_LAYOUTS)} in it.{old}"
        raise EngineError("model_not_found", text)
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
    from sayso.engine.hub import pull

    return in_folder(pull(repository, ModelStore(), _Logged()), name)


class _Logged:
    """Writes to the log how far a fetch is, every tenth of it."""

    def __init__(self) -> None:
        self._told = -1

    def __call__(self, progress: Progress) -> None:
        tenth = 10 * progress.done_bytes // max(1, progress.total_bytes)
        if tenth > self._told:
            self._told = tenth
            logger.info("fetched %d %% of %.0f MB", 10 * tenth, progress.total_bytes / 1e6)
