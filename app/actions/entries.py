"""Desktop entries: which applications are installed and how they are started. Reading is pure but for the files.

Source: freedesktop.org Desktop Entry Specification 1.5, Desktop Menu Specification 1.1 and XDG Base Directory
Specification.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sayso.app.commands.names import Named

_GROUP = "[Desktop Entry]"
_ESCAPES = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\", ";": ";"}
_TERMINALS = (("xdg-terminal-exec",), ("x-terminal-emulator", "-e"), ("xterm", "-e"))
_LARGEST_BYTES = 1 << 20
_ALIASES = {
    "Calculator": ("calculator",),
    "Calendar": ("calendar",),
    "Email": ("mail", "email", "mail program"),
    "FileManager": ("file manager", "file browser"),
    "Presentation": ("presentation",),
    "Spreadsheet": ("spreadsheet",),
    "TerminalEmulator": ("terminal", "console"),
    "TextEditor": ("text editor", "editor"),
    "WebBrowser": ("browser", "web browser"),
    "WordProcessor": ("word processor",),
}
"""What people call all programs of a category of the Desktop Menu Specification, whatever their own names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One application."""

    id: str
    """“firefox.desktop”."""
    name: str
    names: tuple[str, ...]
    """All names in full: name, name in the user's language, generic name."""
    keywords: tuple[str, ...]
    command: str
    """Its Exec line, not yet split."""
    path: Path
    terminal: bool = False
    window_class: str = ""
    """StartupWMClass."""
    folder: str = ""
    """Where it wants to be started."""
    icon: str = ""
    schemes: tuple[str, ...] = field(default=())
    """MIME types it opens."""
    categories: tuple[str, ...] = field(default=())

    @property
    def aliases(self) -> tuple[str, ...]:
        """What people call any program of its kind."""
        return tuple(alias for category in self.categories for alias in _ALIASES.get(category, ()))

    @property
    def named(self) -> Named:
        program = Path(self.program).stem if self.program else ""
        also = (*self.keywords, program, self.id.removesuffix(".desktop"))
        return Named(self.id, self.name, self.names, also, self.aliases)

    @property
    def program(self) -> str:
        """The program's name or path."""
        try:
            return next(iter(split_exec(self.command)), "")
        except ValueError:
            return ""


def installed(environment: Mapping[str, str] | None = None) -> list[Entry]:
    """Applications that are shown to the user, those of the user's own directory first."""
    variables = os.environ if environment is None else environment
    found: dict[str, Entry | None] = {}
    for folder in data_folders(variables):
        for file in _files(folder / "applications"):
            identifier = "-".join(file.relative_to(folder / "applications").parts)
            if identifier not in found:
                # An entry that is hidden by the user hides those of the same name further on.
                found[identifier] = _entry(identifier, file, variables)
    return [entry for entry in found.values() if entry is not None]


def data_folders(variables: Mapping[str, str]) -> list[Path]:
    """XDG_DATA_HOME, then XDG_DATA_DIRS, with the specification's defaults."""
    home = variables.get("XDG_DATA_HOME") or str(Path(variables.get("HOME", "~")).expanduser() / ".local/share")
    shared = variables.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [Path(folder) for folder in dict.fromkeys([home, *shared.split(":")]) if folder.startswith("/")]


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(".desktop"))


def _entry(identifier: str, file: Path, variables: Mapping[str, str]) -> Entry | None:
    """The entry in a file, or None for one that is unreadable, hidden or not startable here."""
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return None
        values = parse(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    if not _shown(values, variables):
        return None
    own, generic = _in_language(values, "Name", variables), _in_language(values, "GenericName", variables)
    names = tuple(dict.fromkeys(name for name in (values["Name"], own, values.get("GenericName"), generic) if name))
    keywords = tuple(word.strip() for word in values.get("Keywords", "").split(";") if word.strip())
    return Entry(
        identifier,
        own or values["Name"],
        names,
        keywords,
        values["Exec"],
        file,
        terminal=values.get("Terminal") == "true",
        window_class=values.get("StartupWMClass", ""),
        folder=values.get("Path", ""),
        icon=values.get("Icon", ""),
        schemes=tuple(kind for kind in values.get("MimeType", "").split(";") if kind),
        categories=tuple(kind for kind in values.get("Categories", "").split(";") if kind),
    )


def parse(text: str) -> dict[str, str]:
    """Keys of the main group with their escapes resolved; the first of a repeated key counts."""
    values: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == _GROUP
        elif inside and line and not line.startswith("#"):
            key, separator, value = line.partition("=")
            if separator:
                values.setdefault(key.rstrip(), _unescape(value.lstrip()))
    return values


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found.group(1), found.group()), value)


def _shown(values: Mapping[str, str], variables: Mapping[str, str]) -> bool:
    if values.get("Type") != "Application" or not values.get("Name") or not values.get("Exec"):
        return False
    if "true" in (values.get("Hidden"), values.get("NoDisplay")):
        return False
    desktops = {name for name in variables.get("XDG_CURRENT_DESKTOP", "").split(":") if name}
    only = {name for name in values.get("OnlyShowIn", "").split(";") if name}
    never = {name for name in values.get("NotShowIn", "").split(";") if name}
    if (only and not only & desktops) or never & desktops:
        return False
    needed = values.get("TryExec")
    return not needed or shutil.which(needed, path=variables.get("PATH")) is not None


def _in_language(values: Mapping[str, str], key: str, variables: Mapping[str, str]) -> str:
    """The value in the user's language, or as it is."""
    locale = variables.get("LC_ALL") or variables.get("LC_MESSAGES") or variables.get("LANG") or ""
    locale = locale.partition(".")[0]
    for tag in (locale, locale.partition("_")[0]):
        if tag and f"{key}[{tag}]" in values:
            return values[f"{key}[{tag}]"]
    return values.get(key, "")


def split_exec(command: str) -> list[str]:
    """The arguments of an Exec line, field codes left in; ValueError where its quotes do not match."""
    # Inside quotes the specification escapes these two as well, which shlex leaves alone.
    plain = re.sub(r"\\(.)", lambda found: found.group(1) if found.group(1) in "$`" else found.group(), command)
    return shlex.split(plain, comments=False, posix=True)


def arguments(entry: Entry, urls: Sequence[str] = (), path: str | None = None) -> list[str]:
    """The command that starts an entry, with its field codes filled in; ValueError for a broken Exec line."""
    result: list[str] = []
    for part in split_exec(entry.command):
        if part in ("%u", "%f"):
            result += urls[:1]
        elif part in ("%U", "%F"):
            result += urls
        elif part == "%i":
            result += ["--icon", entry.icon] if entry.icon else []
        else:
            result.append(_fill(part, entry, urls))
    if not result:
        raise ValueError("the Exec line is empty")
    return [*_terminal(path), *result] if entry.terminal else result


def commands(entries: Iterable[Entry], what: str) -> list[list[str]]:
    """How each of these is started with a file or an address; those whose Exec line is broken are passed over."""
    found = []
    for entry in entries:
        with contextlib.suppress(ValueError):
            found.append(arguments(entry, [what]))
    return found


def _fill(part: str, entry: Entry, urls: Sequence[str]) -> str:
    codes = {
        "%": "%",
        "c": entry.name,
        "k": str(entry.path),
        "u": urls[0] if urls else "",
        "f": urls[0] if urls else "",
    }
    return re.sub(r"%(.)", lambda found: codes.get(found.group(1), ""), part)


def _terminal(path: str | None) -> tuple[str, ...]:
    found = next((command for command in _TERMINALS if shutil.which(command[0], path=path)), None)
    if found is None:
        raise ValueError("it needs a terminal and none is installed")
    return found
