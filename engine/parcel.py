"""Bytes put away: one anonymous mapping that leaves the process when the parcel does, or an encrypted file. No torch.

A ``Vault`` keeps parcels in files that only this process can read: AES-GCM under a key that lives in its memory alone,
mode 0600, in a directory of mode 0700. Its files go when a parcel is taken out or thrown away, when the vault is
closed, and, after a crash, when the next vault opens; without the key they are noise in any case.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from sayso.engine.errors import EngineError
from sayso.engine.messages import Tier

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

logger = logging.getLogger(__name__)

_NONCE_BYTES, _TAG_BYTES = 12, 16
_PLACE = "hibernated"
_OWNED = re.compile(r"\d+-\d+")
"""Names of the folders in it."""


def room(nbytes: int) -> mmap.mmap:
    """Memory of a mapping's own, in large pages where the system has them: small ones cost more than what is copied."""
    if sys.platform == "win32":
        return mmap.mmap(-1, nbytes)
    place = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # A kernel without them.
            place.madvise(mmap.MADV_HUGEPAGE)
    return place


@dataclass(eq=False)
class Parcel:
    """``contents`` is whatever its packer needs to unpack it, views of the buffer aside."""

    buffer: mmap.mmap
    contents: object

    @property
    def nbytes(self) -> int:
        return len(self.buffer)


@dataclass(eq=False)
class Stored:
    """A parcel in a file."""

    path: Path
    nbytes: int
    contents: object = field(repr=False)


class Vault:
    """See the module. Nothing is written or imported before the first parcel comes. Loop thread."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._folder: Path | None = None
        self._cipher: AESGCM | None = None
        self._stored = 0

    def store(self, parcel: Parcel) -> Stored:
        """Encrypt a parcel into a file; raises EngineError ``hibernation_failed`` and leaves no file behind."""
        cipher, folder = self._open(), self._own_folder()
        self._stored += 1
        path = folder / str(self._stored)
        try:
            sealed = room(_NONCE_BYTES + parcel.nbytes + _TAG_BYTES)
        except OSError as error:
            raise _failed(self._parent, error) from error
        sealed[:_NONCE_BYTES] = nonce = os.urandom(_NONCE_BYTES)
        cipher.encrypt_into(nonce, memoryview(parcel.buffer), path.name.encode(), memoryview(sealed)[_NONCE_BYTES:])
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as file:
                if file.write(sealed) != len(sealed):
                    raise OSError("the disk took only a part")
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise _failed(self._parent, error) from error
        return Stored(path, parcel.nbytes, parcel.contents)

    def fetch(self, stored: Stored) -> Parcel:
        """Read a parcel back and remove its file; raises EngineError ``hibernation_lost`` when it is not whole."""
        from cryptography.exceptions import InvalidTag

        assert self._cipher is not None
        try:
            data, buffer = room(_NONCE_BYTES + stored.nbytes + _TAG_BYTES), room(stored.nbytes)
            with stored.path.open("rb", buffering=0) as file:
                if file.readinto(data) != len(data) or file.read(1):
                    raise OSError("its length is wrong")
            sealed = memoryview(data)[_NONCE_BYTES:]
            self._cipher.decrypt_into(data[:_NONCE_BYTES], sealed, stored.path.name.encode(), memoryview(buffer))
        except (OSError, InvalidTag) as error:
            text = f"A hibernated session could not be read back ({error or 'it was changed'})."
            raise EngineError("hibernation_lost", text) from error
        finally:
            self.discard(stored)
        return Parcel(buffer, stored.contents)

    def discard(self, stored: Stored) -> None:
        """Remove a parcel's file."""
        try:
            stored.path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("%s could not be removed: %s", stored.path, error)

    def close(self) -> None:
        """Remove every file, and forget the key."""
        if self._folder is not None:
            _remove(self._folder)
        self._folder = self._cipher = None

    def _open(self) -> AESGCM:
        if self._cipher is not None:
            return self._cipher
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            text = "Hibernation needs the package cryptography; install sayso with its engine extra."
            raise EngineError("hibernation_failed", text) from error
        self._cipher = AESGCM(AESGCM.generate_key(256))
        return self._cipher

    def _own_folder(self) -> Path:
        """This process's folder, which nobody else may enter: made when it is not there, or not there any more."""
        if self._folder is not None and _is_folder(self._folder) and _is_folder(self._folder.parent):
            return self._folder
        place = self._parent / _PLACE
        folder = place / _owner(psutil.Process())
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_folder(place):
                # What a link leads to is not ours to sweep.
                raise OSError(f"{place} is a link")
            place.chmod(0o700)
            sweep(place)
            _remove(folder)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise _failed(self._parent, error) from error
        self._folder = folder
        return folder


@dataclass(eq=False)
class Away:
    """A session's keys and values that are not in the model: in host memory, in a file, or (neither) dropped."""

    vault: Vault
    parcel: Parcel | None = None
    stored: Stored | None = None

    @property
    def tier(self) -> Tier:
        if self.parcel is not None:
            return "host"
        return "disk" if self.stored is not None else "dropped"

    @property
    def host_bytes(self) -> int:
        return self.parcel.nbytes if self.parcel is not None else 0

    @property
    def disk_bytes(self) -> int:
        return self.stored.nbytes if self.stored is not None else 0

    def hibernate(self) -> None:
        """From host memory to a file; raises EngineError ``hibernation_failed`` and then is where it was."""
        assert self.parcel is not None
        self.stored = self.vault.store(self.parcel)
        self.parcel = None

    def discard(self) -> None:
        """It is not needed any more."""
        if self.stored is not None:
            self.vault.discard(self.stored)
        self.parcel = self.stored = None


def sweep(place: Path) -> None:
    """Remove what processes that are gone left in this place, and nothing else that lies there."""
    for folder in place.iterdir():
        if _OWNED.fullmatch(folder.name) and not _lives(folder.name):
            _remove(folder)


def sweep_parent(parent: Path) -> None:
    """What a start does, whether hibernation is on or off."""
    with contextlib.suppress(OSError):
        if _is_folder(parent / _PLACE):
            sweep(parent / _PLACE)


def _remove(folder: Path) -> None:
    """A folder with all that is in it, or a link alone."""
    if _is_folder(folder):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            folder.unlink(missing_ok=True)


def _is_folder(path: Path) -> bool:
    """Whether it is one itself, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def _lives(owner: str) -> bool:
    """Whether the process of this name does."""
    try:
        return _owner(psutil.Process(int(owner.partition("-")[0]))) == owner
    except (ValueError, OverflowError, psutil.Error):
        return False


def _owner(process: psutil.Process) -> str:
    """A process's own name: a number that came again belongs to one that began at another time."""
    return f"{process.pid}-{int(process.create_time() * 100)}"


def _failed(parent: Path, error: OSError) -> EngineError:
    text = f"A session could not be hibernated in {parent} ({error.strerror or error}); it was not put on disk."
    return EngineError("hibernation_failed", text)
