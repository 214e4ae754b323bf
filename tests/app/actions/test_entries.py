"""Desktop entries are read as their specification says."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.app.actions.entries import arguments, installed, parse


def write(folder: Path, identifier: str, text: str) -> None:
    file = folder / "applications" / f"{identifier}.desktop"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[Desktop Entry]\nType=Application\n" + text, encoding="utf-8")


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"XDG_DATA_HOME": str(tmp_path / "home"), "XDG_DATA_DIRS": str(tmp_path / "shared"), "PATH": "/bin"} | more


@pytest.mark.parametrize(
    "text",
    [
        "Name=No Command\n",
        "Exec=nameless\n",
        "Name=Hidden\nExec=x\nHidden=true\n",
        "Name=Helper\nExec=x\nNoDisplay=true\n",
        "Name=Elsewhere\nExec=x\nOnlyShowIn=GNOME;\n",
        "Name=Not Here\nExec=x\nNotShowIn=KDE;\n",
        "Name=Missing\nExec=x\nTryExec=/nowhere/program\n",
    ],
)
def test_an_entry_that_is_not_shown_is_not_installed(tmp_path: Path, text: str) -> None:
    write(tmp_path / "home", "entry", text)

    assert installed(environment(tmp_path, XDG_CURRENT_DESKTOP="KDE")) == []


def test_the_users_own_entry_hides_the_shared_one(tmp_path: Path) -> None:
    write(tmp_path / "home", "editor", "Name=Mine\nExec=mine\n")
    write(tmp_path / "shared", "editor", "Name=Shared\nExec=shared\n")
    write(tmp_path / "home", "gone", "Name=Gone\nExec=gone\nHidden=true\n")
    write(tmp_path / "shared", "gone", "Name=Gone\nExec=gone\n")

    assert [entry.name for entry in installed(environment(tmp_path))] == ["Mine"]


def test_names_in_the_users_language_are_added(tmp_path: Path) -> None:
    write(tmp_path / "home", "files", "Name=Files\nName[de]=Dateien\nGenericName=File Manager\nExec=files\n")

    (entry,) = installed(environment(tmp_path, LANG="de_AT.UTF-8"))

    assert entry.name == "Dateien"
    assert entry.names == ("Files", "Dateien", "File Manager")


@pytest.mark.parametrize(
    ("line", "urls", "expected"),
    [
        ("firefox %u", (), ["firefox"]),
        ("firefox %u", ("https://a.org", "https://b.org"), ["firefox", "https://a.org"]),
        ("player %U", ("a", "b"), ["player", "a", "b"]),
        ("app --name %c %k", (), ["app", "--name", "An App", "/x/app.desktop"]),
        ("app %i", (), ["app", "--icon", "picture"]),
        ('"/opt/my app/run" --half=50%% %F', (), ["/opt/my app/run", "--half=50%"]),
        ('sh -c "echo \\$HOME"', (), ["sh", "-c", "echo $HOME"]),
    ],
)
def test_field_codes_are_filled_in(tmp_path: Path, line: str, urls: tuple[str, ...], expected: list[str]) -> None:
    write(tmp_path / "home", "app", f"Name=An App\nIcon=picture\nExec={line}\n".replace("\\", "\\\\"))
    (entry,) = installed(environment(tmp_path))

    found = [part.replace(str(entry.path), "/x/app.desktop") for part in arguments(entry, urls)]

    assert found == expected


def test_programs_of_a_kind_are_called_as_people_call_that_kind(tmp_path: Path) -> None:
    write(tmp_path / "home", "kitty", "Name=kitty\nExec=kitty\nCategories=System;TerminalEmulator;\n")
    write(tmp_path / "home", "paint", "Name=Paint\nExec=paint\nCategories=Graphics;\n")

    named = {entry.name: entry.named.aliases for entry in installed(environment(tmp_path))}

    assert named == {"kitty": ("terminal", "console"), "Paint": ()}


def test_other_groups_comments_and_broken_lines_are_passed_over() -> None:
    values = parse(
        "# x\n[Other]\nName=no\n[Desktop Entry]\nName=yes\\sand\\nmore\nbroken\nName=later\n[Action]\nExec=no\n"
    )

    assert values == {"Name": "yes and\nmore"}


def test_a_file_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "home/applications/bad.desktop"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff\xfe\x00" * 100)

    assert installed(environment(tmp_path)) == []
