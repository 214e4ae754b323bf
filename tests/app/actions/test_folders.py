"""The user's folders are handed to the file manager, wherever they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import ApplicationFolder, BareHands

from sayso.app.actions import ActionError, Receipt
from sayso.app.actions.folders import user_folder

pytestmark = pytest.mark.usefixtures("no_opener")


def manager(tmp_path: Path) -> Path:
    """A file manager that writes down what it was to show."""
    shown = tmp_path / "shown"
    program = tmp_path / "manager"
    program.write_text(f'#!/bin/sh\necho "$1" > {shown}.part && mv {shown}.part {shown}\n')
    program.chmod(0o755)
    entries = ApplicationFolder(tmp_path / "data" / "applications")
    entries.add("manager", Name="Cabinet", Exec=f"{program} %U", MimeType="inode/directory;")
    return shown


@pytest.mark.parametrize(
    ("sentence", "folder"),
    [("open downloads", "Downloads"), ("show my documents folder", "Documents"), ("open my home folder", ".")],
)
async def test_a_folder_is_handed_to_the_file_manager(
    no_opener: None, bare_hands: BareHands, tmp_path: Path, sentence: str, folder: str
) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    shown = manager(tmp_path)

    outcome = await bare_hands.do(sentence)

    wait_for(shown.exists, "the file manager")
    assert shown.read_text().strip() == str(tmp_path / folder)
    assert outcome.receipt is Receipt.SENT


async def test_a_manager_whose_entry_is_broken_is_passed_over(bare_hands: BareHands, tmp_path: Path) -> None:
    shown = manager(tmp_path)
    entries = ApplicationFolder(tmp_path / "data" / "applications")
    entries.add("a-broken", Name="Broken", Exec='broken "%U', MimeType="inode/directory;")

    await bare_hands.do("open my home folder")

    wait_for(shown.exists, "the file manager")


async def test_a_folder_that_is_not_there_is_named(bare_hands: BareHands, tmp_path: Path) -> None:
    manager(tmp_path)
    with pytest.raises(ActionError) as refused:
        await bare_hands.do("open pictures")

    assert refused.value.code == "no_such_folder"
    assert str(tmp_path / "Pictures") in str(refused.value)


async def test_without_a_file_manager_it_says_so(no_opener: None, bare_hands: BareHands, tmp_path: Path) -> None:
    (tmp_path / "Pictures").mkdir()
    with pytest.raises(ActionError) as refused:
        await bare_hands.do("open the pictures folder")

    assert refused.value.code == "no_file_manager"


def test_folders_that_the_user_moved_are_found(tmp_path: Path) -> None:
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "user-dirs.dirs").write_text(
        '# comment\nXDG_DOWNLOAD_DIR="$HOME/Geladenes"\nXDG_MUSIC_DIR="/srv/music"\n', encoding="utf-8"
    )
    environment = {"HOME": str(tmp_path)}

    assert user_folder("downloads", environment) == tmp_path / "Geladenes"
    assert user_folder("music", environment) == Path("/srv/music")
    assert user_folder("videos", environment) == tmp_path / "Videos"
