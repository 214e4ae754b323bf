"""Sayso in the user's list of applications, with its icon, and among what starts with the session.

These are files in the user's own folders as freedesktop.org's Desktop Entry and Autostart specifications have them.
Reading and writing block: in the command line, or on a worker thread.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import platformdirs

from sayso.app.errors import AppError

APPLICATION = "sayso.Desktop"
"""By which a desktop knows Sayso: the name of its entry, and of its windows on Wayland. GNOME wants a dot in it."""
_ENTRY = f"{APPLICATION}.desktop"
_AUTOSTART = _FORMER = "sayso.desktop"
"""Among what starts with the session, and among the applications before GNOME wanted a dot."""


class DesktopFileError(AppError):
    """Code: desktop_file_unwritable."""


def entry(program: list[str]) -> str:
    """The desktop entry that starts this program and works it; arguments are quoted as the specification asks."""
    command = " ".join(map(_quoted, program))
    template = (files("sayso.assets") / "sayso.desktop").read_text(encoding="utf-8")
    return template.replace("Exec=sayso", f"Exec={command}")


def program() -> list[str]:
    """How this Sayso is started: its own command, or its Python where that is not installed."""
    beside = Path(sys.executable).with_name("sayso")
    command = str(beside) if beside.is_file() else shutil.which("sayso")
    return [command] if command else [sys.executable, "-m", "sayso.app.cli.main"]


def _quoted(argument: str) -> str:
    special = '"`$\\'
    escaped = "".join(f"\\{character}" if character in special else character for character in argument)
    plain = escaped.replace("%", "%%")
    if not set(argument) & set(" \t\n'><~|&;*?#()" + special):
        return plain
    # A value's own escapes are read before those of the quotes.
    return '"' + plain.replace("\\", "\\\\") + '"'


def install(data: Path | None = None) -> list[Path]:
    """Put the entry and the icon into the user's data folder; the files written. Raises DesktopFileError."""
    application, drawing = _installed(data)
    _write(application, entry(program()))
    _delete(application.with_name(_FORMER))
    _write(drawing, (files("sayso.assets") / "icons" / "sayso.svg").read_text(encoding="utf-8"))
    return [application, drawing]


def remove(data: Path | None = None) -> list[Path]:
    """Take the entry and the icon away again; the files removed. Raises DesktopFileError."""
    application, drawing = _installed(data)
    return [path for path in (application, application.with_name(_FORMER), drawing) if _delete(path)]


def _installed(data: Path | None) -> tuple[Path, Path]:
    folder = data or platformdirs.user_data_path()
    return folder / "applications" / _ENTRY, folder / "icons" / "hicolor" / "scalable" / "apps" / "sayso.svg"


class Autostart:
    """Whether Sayso starts with the user's session."""

    def __init__(self, configuration: Path | None = None) -> None:
        self.path = (configuration or platformdirs.user_config_path()) / "autostart" / _AUTOSTART

    @property
    def on(self) -> bool:
        """An entry that is switched off with ``Hidden`` counts as none, as desktops see it."""
        try:
            return "Hidden=true" not in self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False

    def set(self, on: bool) -> None:
        """Start with the session from now on, or no more. Raises DesktopFileError."""
        if on:
            _write(self.path, entry(program()))
        else:
            _delete(self.path)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _delete(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unwritable(path, error) from error
    return True


def _unwritable(path: Path, error: OSError) -> DesktopFileError:
    return DesktopFileError("desktop_file_unwritable", f"{path} cannot be written: {error.strerror or error}.")
