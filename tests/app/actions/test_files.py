"""The user's files are found by what people call them, and handed to a program that takes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bounded import wait_for
from spoken_actions import ApplicationFolder, BareHands

from sayso.app.actions import ActionError, Receipt

pytestmark = pytest.mark.usefixtures("no_opener")


def taker(tmp_path: Path, kinds: str) -> Path:
    """A program for these kinds of files that writes down what it was to show."""
    shown, program = tmp_path / "shown", tmp_path / "taker"
    program.write_text(f'#!/bin/sh\necho "$1" > {shown}.part && mv {shown}.part {shown}\n')
    program.chmod(0o755)
    entries = ApplicationFolder(tmp_path / "data" / "applications")
    entries.add("taker", Name="Taker", Exec=f"{program} %U", MimeType=kinds)
    return shown


def file(path: Path, changed: float = 1000.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("words")
    os.utime(path, (changed, changed))
    return path


async def test_a_file_is_handed_to_the_program_for_its_kind(bare_hands: BareHands, tmp_path: Path) -> None:
    wanted = file(tmp_path / "Documents" / "house" / "Shopping_List.txt")
    file(tmp_path / "Documents" / "tax report.pdf")
    shown = taker(tmp_path, "text/plain;")

    outcome = await bare_hands.do("open the file called shopping list")

    wait_for(shown.exists, "the program")
    assert shown.read_text().strip() == str(wanted)
    assert (outcome.title, outcome.receipt) == ("Open Shopping_List.txt", Receipt.SENT)


async def test_where_a_file_is_can_be_asked_and_its_folder_is_shown(bare_hands: BareHands, tmp_path: Path) -> None:
    wanted = file(tmp_path / "Downloads" / "tax report.pdf")
    outcome = await bare_hands.do("find my file tax report")
    assert (outcome.detail, outcome.receipt) == ("~/Downloads/tax report.pdf", Receipt.VERIFIED)

    shown = taker(tmp_path, "inode/directory;")
    outcome = await bare_hands.do("where is the document named tax report")

    wait_for(shown.exists, "the file manager")
    assert shown.read_text().strip() == str(wanted.parent)
    assert outcome.detail.startswith("~/Downloads/tax report.pdf; its folder")


async def test_of_two_files_with_one_name_the_one_changed_last_is_meant(bare_hands: BareHands, tmp_path: Path) -> None:
    file(tmp_path / "Documents" / "notes.txt", 3000.0)
    file(tmp_path / "Desktop" / "notes.txt", 5000.0)
    file(tmp_path / "notes.txt", 4000.0)

    assert (await bare_hands.do("find the file notes")).detail == "~/Desktop/notes.txt"


@pytest.mark.parametrize(
    ("sentence", "code", "told"),
    [
        ("find the file report", "ambiguous_file", "report.odt"),
        ("find the file holiday plan", "unknown_file", "is in your folders"),
        ("find the file repot of mine", "unknown_file", "is in your folders"),
    ],
)
async def test_what_is_not_clear_is_asked_and_what_is_not_there_is_told(
    bare_hands: BareHands, tmp_path: Path, sentence: str, code: str, told: str
) -> None:
    file(tmp_path / "Documents" / "report.odt")
    file(tmp_path / "Documents" / "report.pdf")

    with pytest.raises(ActionError) as refused:
        await bare_hands.do(sentence)

    assert refused.value.code == code
    assert told in str(refused.value)


async def test_the_ending_tells_two_files_apart(bare_hands: BareHands, tmp_path: Path) -> None:
    file(tmp_path / "Documents" / "report.odt")
    file(tmp_path / "Documents" / "report.pdf")

    assert (await bare_hands.do("find the file report dot pdf")).detail == "~/Documents/report.pdf"


async def test_programs_hidden_files_and_links_to_elsewhere_are_not_found(
    bare_hands: BareHands, tmp_path: Path
) -> None:
    for name in ("Documents/cleaner.sh", "Documents/cleaner.desktop", "Documents/.cleaner.txt", "else/cleaner.txt"):
        file(tmp_path / name)
    (tmp_path / "Documents" / "link").symlink_to(tmp_path / "else")

    with pytest.raises(ActionError) as refused:
        await bare_hands.do("open the file called cleaner")

    assert refused.value.code == "unknown_file"


async def test_without_a_program_for_it_a_file_is_told_as_not_opened(bare_hands: BareHands, tmp_path: Path) -> None:
    file(tmp_path / "Music" / "song.flac")

    with pytest.raises(ActionError) as refused:
        await bare_hands.do("open the file named song")

    assert refused.value.code == "no_program"
    assert "song.flac" in str(refused.value)
