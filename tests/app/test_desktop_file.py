"""Sayso in the list of applications: files that the desktop's own validator accepts and a real start understands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sayso.app.cli.main import main
from sayso.app.desktop_file import APPLICATION, Autostart, DesktopFileError, entry, install, program, remove


def commands(content: str) -> list[str]:
    return [line.removeprefix("Exec=") for line in content.splitlines() if line.startswith("Exec=")]


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="desktop-file-utils is not installed")
@pytest.mark.parametrize("started", [["/usr/bin/sayso"], ["/home/a b/100%/$x/sayso"], [sys.executable, "-m", "x"]])
def test_the_entry_is_valid(tmp_path: Path, started: list[str]) -> None:
    path = tmp_path / "sayso.desktop"
    path.write_text(entry(started))
    checked = subprocess.run(["desktop-file-validate", path], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_its_name_has_a_dot_without_which_gnome_gives_no_keys() -> None:
    assert re.fullmatch(r"[A-Za-z_-][\w-]*(\.[A-Za-z_-][\w-]*)+", APPLICATION)


def test_the_entry_starts_this_program_and_works_it() -> None:
    assert commands(entry(["/usr/bin/sayso"])) == ["/usr/bin/sayso", "/usr/bin/sayso toggle", "/usr/bin/sayso quit"]


def test_names_with_special_characters_are_quoted_as_the_specification_asks() -> None:
    assert commands(entry(["/a b/100%/$x"]))[0] == '"/a b/100%%/\\\\$x"'


def test_this_program_can_be_started() -> None:
    done = subprocess.run([*program(), "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("sayso ")


def test_it_is_installed_with_its_icon_and_removed_without_a_trace(tmp_path: Path) -> None:
    former = tmp_path / "applications" / "sayso.desktop"
    former.parent.mkdir()
    former.touch()
    written = install(tmp_path)
    assert not former.exists()
    assert written == [
        tmp_path / "applications" / "sayso.Desktop.desktop",
        tmp_path / "icons" / "hicolor" / "scalable" / "apps" / "sayso.svg",
    ]
    assert all(path.is_file() for path in written)
    assert remove(tmp_path) == written
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert remove(tmp_path) == []


def test_starting_with_the_session_is_switched_on_and_off(tmp_path: Path) -> None:
    start = Autostart(tmp_path)
    assert not start.on
    start.set(True)
    assert start.on
    assert start.path == tmp_path / "autostart" / "sayso.desktop"
    start.set(False)
    start.set(False)
    assert not start.path.exists()


def test_an_entry_that_the_desktop_has_hidden_counts_as_off(tmp_path: Path) -> None:
    start = Autostart(tmp_path)
    start.set(True)
    start.path.write_text(start.path.read_text().replace("Terminal=false", "Terminal=false\nHidden=true"))
    assert not start.on


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "applications").write_text("in the way")
    with pytest.raises(DesktopFileError, match=r"applications/sayso\.Desktop\.desktop"):
        install(tmp_path)


def test_the_command_installs_and_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    installed = CliRunner().invoke(main, ["desktop-file", "--install", "--autostart"])
    assert installed.exit_code == 0
    assert [line.split()[0] for line in installed.output.splitlines()] == ["wrote"] * 3
    removed = CliRunner().invoke(main, ["desktop-file", "--remove"])
    assert [line.split()[0] for line in removed.output.splitlines()] == ["removed"] * 3
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert CliRunner().invoke(main, ["desktop-file", "--remove"]).output == "Nothing was there to remove.\n"


@pytest.mark.parametrize("arguments", [[], ["--install", "--remove"], ["--remove", "--autostart"]])
def test_the_command_wants_to_know_what_to_do(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["desktop-file", *arguments]).exit_code == 2
