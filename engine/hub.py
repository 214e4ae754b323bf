"""Fetches a model from the hub: what it has, file by file, resumed where a fetch broke off, checked, then put in place.

Needs the extra ``hub``. The hub's library keeps nothing of a file that broke off, so the files are written here; it is
asked for what there is, for addresses and logins, and for the transfer itself.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from sayso.engine.errors import EngineError
from sayso.engine.model_store import ModelStore

_WANTED = ("*.json", "model.bin", "vocabulary.*", "model*.safetensors", "consolidated.safetensors")
_ORIGINAL = "consolidated.safetensors"
_SPARE_BYTES = 100 * 10**6
_PIECE = 1 << 20
_ASK_S = 10.0


@dataclass(frozen=True)
class HubFile:
    """One file of a repository. ``digest`` is its SHA-256 when it is a large file, else git's SHA-1 of it."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class Progress:
    """How far a fetch is."""

    file: str
    done_bytes: int
    total_bytes: int


def wanted(files: Sequence[HubFile]) -> list[HubFile]:
    """The files that a runner reads: settings, vocabularies and one copy of the weights."""
    top = [file for file in files if any(fnmatch(file.name, pattern) for pattern in _WANTED)]
    if any(fnmatch(file.name, "model*.safetensors") for file in top):
        top = [file for file in top if file.name != _ORIGINAL]
    return sorted(top, key=lambda file: (file.size, file.name))


def pull(repository: str, store: ModelStore, report: Callable[[Progress], None] | None = None) -> Path:
    """Fetch a model, or the rest of one; its folder. What is complete is not fetched again.

    Raises EngineError: ``extra_missing``, ``hub_unreachable``, ``hub_refused``, ``model_not_found``,
    ``model_wrong_hash``, ``disk_full``, ``store_unwritable`` or ``model_busy``.
    """
    folder = store.folder(repository)
    if folder.is_dir():
        return folder
    with _told(repository), _alone(store, repository):
        commit, files = _ask(repository)
        partial = store.partial(repository)
        partial.mkdir(parents=True, exist_ok=True)
        total, done = sum(file.size for file in files), 0
        _check_room(partial, total)
        for file in files:
            _fetch(_Source(repository, commit, file), partial, _Reporter(report, file.name, done, total))
            done += file.size
        _forget_others(partial, files)
        partial.rename(folder)
    return folder


@dataclass(frozen=True)
class _Source:
    repository: str
    commit: str
    file: HubFile


class _Reporter:
    """What the hub's library takes for a progress bar; it passes on how far the whole fetch is."""

    def __init__(self, report: Callable[[Progress], None] | None, name: str, before: int, total: int) -> None:
        self._report, self._name, self._done, self._total = report, name, before, total

    def bar(self, *, initial: int = 0, **_: object) -> Self:
        self.update(initial)
        return self

    def update(self, count: float = 1) -> None:
        self._done += int(count)
        if self._report is not None:
            self._report(Progress(self._name, self._done, self._total))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def _ask(repository: str) -> tuple[str, list[HubFile]]:
    """The newest commit of a repository and the files to fetch."""
    from huggingface_hub import HfApi

    info = HfApi().model_info(repository, files_metadata=True, timeout=_ASK_S)
    files = [
        HubFile(each.rfilename, each.size or 0, (each.lfs.sha256 if each.lfs else each.blob_id) or "")
        for each in info.siblings or []
    ]
    files = wanted(files)
    if not any(file.name.endswith((".safetensors", ".bin")) for file in files):
        raise EngineError("model_not_found", f"{repository} has no weights on the hub that Sayso can read.")
    return str(info.sha), files


def _fetch(source: _Source, partial: Path, reporter: _Reporter) -> None:
    """One file, unless it is there; a part of it is gone on with."""
    file = source.file
    target, part = partial / file.name, partial / f"{file.name}.{file.digest[:16]}.part"
    if target.is_file() and target.stat().st_size == file.size and _digest(target, file) == file.digest:
        reporter.update(file.size)
        return
    have = part.stat().st_size if part.is_file() else 0
    if have > file.size:
        part.unlink()
        have = 0
    if have < file.size or not part.is_file():
        _transfer(source, part, have, reporter)
    else:
        reporter.update(have)
    if _digest(part, file) != file.digest:
        part.unlink()
        raise EngineError(
            "model_wrong_hash",
            f"{file.name} of {source.repository} did not arrive as the hub has it, so it was thrown away. Fetch again.",
        )
    part.replace(target)


def _transfer(source: _Source, part: Path, have: int, reporter: _Reporter) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    url = hf_hub_url(source.repository, source.file.name, revision=source.commit)
    location = get_hf_file_metadata(url, timeout=_ASK_S).location
    headers: dict[str, Any] = build_hf_headers()
    if urlsplit(location).netloc != urlsplit(url).netloc:
        # The login is for the hub only, not for whoever keeps its large files.
        headers.pop("authorization", None)
    with part.open("ab") as file:
        http_get(
            location,
            file,
            resume_size=have,
            headers=headers,
            expected_size=source.file.size,
            tqdm_class=reporter.bar,  # type: ignore[arg-type]
        )


def _digest(path: Path, file: HubFile) -> str:
    """SHA-256 of a large file; of a small one what git calls its blob."""
    if len(file.digest) == 64:
        found = hashlib.sha256()
    else:
        found = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        while piece := opened.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def _check_room(partial: Path, total: int) -> None:
    have = sum(path.stat().st_size for path in partial.iterdir() if path.is_file())
    free = shutil.disk_usage(partial).free
    if total - have + _SPARE_BYTES > free:
        text = f"{(total - have) / 1e9:.1f} GB are to be fetched and {partial.parent} has {free / 1e9:.1f} GB free."
        raise EngineError("disk_full", text)


def _forget_others(partial: Path, files: Sequence[HubFile]) -> None:
    """Delete parts of files that the hub has meanwhile replaced."""
    names = {file.name for file in files}
    for path in partial.iterdir():
        if path.is_file() and path.name not in names:
            path.unlink()


@contextmanager
def _alone(store: ModelStore, repository: str) -> Iterator[None]:
    """One fetch of a model at a time, over all processes."""
    from filelock import FileLock, Timeout

    store.root.mkdir(parents=True, exist_ok=True)
    lock = FileLock(store.root / f".{store.folder(repository).name}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise EngineError("model_busy", f"{repository} is being fetched already; wait for that to end.") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _told(repository: str) -> Iterator[None]:
    """What goes wrong with the hub, as coded errors."""
    try:
        from huggingface_hub.errors import (
            GatedRepoError,
            HfHubHTTPError,
            HFValidationError,
            OfflineModeIsEnabled,
            RepositoryNotFoundError,
        )
    except ImportError as error:
        text = f"Fetching {repository!r} from the hub needs one more package: pip install 'sayso[hub]'"
        raise EngineError("extra_missing", text) from error
    try:
        yield
    except EngineError:
        raise
    except GatedRepoError as error:
        text = f"{repository} is given only to those who accept its terms on the hub; do so, then set HF_TOKEN."
        raise EngineError("hub_refused", text) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise EngineError("model_not_found", f"The hub has no model {repository!r}, or it needs a login.") from error
    except HfHubHTTPError as error:
        raise EngineError("hub_refused", f"The hub did not give {repository!r}: {error}") from error
    except OfflineModeIsEnabled as error:
        raise _unreachable(repository, "HF_HUB_OFFLINE is set") from error
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        text = f"The folder for models cannot be written ({error}). Choose another one with SAYSO_MODELS."
        raise EngineError("store_unwritable", text) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise EngineError("disk_full", f"The disk became full while {repository!r} was fetched.") from error
        raise _unreachable(repository, str(error)) from error
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("httpx", "httpx2", "httpcore", "requests"):
            raise
        raise _unreachable(repository, str(error)) from error


def _unreachable(repository: str, why: str) -> EngineError:
    return EngineError(
        "hub_unreachable",
        f"The hub cannot be reached, or the transfer broke off ({why}), and {repository!r} is not here. What came so "
        "far is kept: fetch again when there is a network, or use --model auto, which works offline.",
    )
