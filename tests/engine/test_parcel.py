"""Parcels on disk: encrypted, private, gone when they are not needed; a disk that fails is a coded error."""

import errno
import mmap
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.engine.errors import EngineError
from sayso.engine.parcel import Parcel, Vault, sweep_parent

VOICE = b"what follows from a voice " * 4000


def parcel() -> Parcel:
    buffer = mmap.mmap(-1, len(VOICE))
    buffer[:] = VOICE
    return Parcel(buffer, "contents")


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_parcel_comes_back_whole_and_its_file_is_gone(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    stored = vault.store(parcel())
    back = vault.fetch(stored)
    assert (back.buffer[:], back.contents, stored.nbytes) == (VOICE, "contents", len(VOICE))
    assert files(tmp_path) == []


def test_the_file_is_unreadable_private_and_removed_when_the_vault_closes(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    (path,) = [vault.store(parcel()).path]
    assert b"voice" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]
    vault.close()
    assert files(tmp_path) == []


def test_a_file_that_was_changed_or_cut_is_not_taken_back(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    for spoil in (lambda data: data[:-1], lambda data: data[:100] + b"?" + data[101:]):
        stored = vault.store(parcel())
        stored.path.write_bytes(spoil(stored.path.read_bytes()))
        with pytest.raises(EngineError) as caught:
            vault.fetch(stored)
        assert caught.value.code == "hibernation_lost"
        assert files(tmp_path) == []


def test_a_place_that_cannot_be_written_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(EngineError) as caught:
        Vault(tmp_path / "file").store(parcel())
    assert caught.value.code == "hibernation_failed"


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a full disk")
def test_a_disk_that_fills_up_is_a_coded_error_and_leaves_nothing(tmp_path: Path) -> None:
    program = f"""
import mmap, resource, signal
from pathlib import Path
from sayso.engine.errors import EngineError
from sayso.engine.parcel import Parcel, Vault
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
vault = Vault(Path({str(tmp_path)!r}))
vault.discard(vault.store(Parcel(mmap.mmap(-1, 100), None)))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    vault.store(Parcel(mmap.mmap(-1, 100_000), None))
except EngineError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "hibernation_failed"
    assert files(tmp_path) == []


def test_what_a_killed_process_left_is_removed_at_the_next_start_and_what_a_living_one_has_is_not(
    tmp_path: Path,
) -> None:
    vault = Vault(tmp_path)
    kept = vault.store(parcel()).path
    left = tmp_path / "hibernated" / f"{os.getpid()}-1"
    left.mkdir()
    (left / "1").write_bytes(b"sealed")
    sweep_parent(tmp_path)
    assert files(tmp_path) == [kept]
    vault.close()


def test_a_place_that_is_a_link_is_neither_used_nor_swept(tmp_path: Path) -> None:
    """Whoever links it to their documents must find them afterwards."""
    documents = tmp_path / "documents"
    for name in ("letters", "99999999-1"):
        (documents / name).mkdir(parents=True)
        (documents / name / "dear").write_text("you")
    (tmp_path / "hibernated").symlink_to(documents)
    sweep_parent(tmp_path)
    with pytest.raises(EngineError, match="link") as caught:
        Vault(tmp_path).store(parcel())
    assert caught.value.code == "hibernation_failed"
    assert len(files(documents)) == 2


def test_what_is_nobodys_folder_in_the_place_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "hibernated" / "notes"
    kept.mkdir(parents=True)
    (kept / "1").write_text("mine")
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "2").write_text("mine too")
    (tmp_path / "hibernated" / "99999999-1").symlink_to(target)
    sweep_parent(tmp_path)
    assert sorted(path.name for path in files(tmp_path)) == ["1", "2"]
    assert not (tmp_path / "hibernated" / "99999999-1").is_symlink()


@pytest.mark.parametrize("gone", ["the folder", "the place"])
def test_a_folder_that_was_removed_is_made_anew(tmp_path: Path, gone: str) -> None:
    vault = Vault(tmp_path)
    lost = vault.store(parcel())
    shutil.rmtree(lost.path.parent if gone == "the folder" else lost.path.parent.parent)
    stored = vault.store(parcel())
    assert vault.fetch(stored).buffer[:] == VOICE
    with pytest.raises(EngineError) as caught:
        vault.fetch(lost)
    assert caught.value.code == "hibernation_lost"


def test_a_link_in_the_folders_place_gets_nothing_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    vault, elsewhere = Vault(tmp_path / "cache"), tmp_path / "elsewhere"
    folder = vault.store(parcel()).path.parent
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    assert vault.store(parcel()).path.parent == folder
    assert not folder.is_symlink()
    assert len(files(elsewhere)) == 1
    vault.close()
    assert (files(tmp_path / "cache"), len(files(elsewhere))) == ([], 1)


def test_memory_that_is_full_is_a_coded_error_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault(tmp_path)

    def full(nbytes: int) -> mmap.mmap:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("sayso.engine.parcel.room", full)
    with pytest.raises(EngineError) as caught:
        vault.store(parcel())
    assert (caught.value.code, files(tmp_path)) == ("hibernation_failed", [])
