"""Commands of the user's own: a phrase, and keys, text, an address or a program. Whether one can be is decided here.

Pure but for looking whether a program is installed.
"""

from __future__ import annotations

import shlex
import shutil
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import msgspec

from sayso.app.commands.key_names import read_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILY = "own"
LONGEST_PHRASE, LONGEST_VALUE = 100, 10_000


class OwnKind(StrEnum):
    KEYS = "keys"
    TEXT = "text"
    ADDRESS = "address"
    PROGRAM = "program"


class OwnCommand(msgspec.Struct, frozen=True):
    """``value`` is what the kind says: keys as “Ctrl+Shift+T”, text as it is typed, an address, a command line."""

    phrase: Annotated[str, msgspec.Meta(max_length=LONGEST_PHRASE)]
    kind: OwnKind
    value: Annotated[str, msgspec.Meta(max_length=LONGEST_VALUE)]


HELP = {
    OwnKind.KEYS: "Your own: presses {}",
    OwnKind.TEXT: "Your own: types {}",
    OwnKind.ADDRESS: "Your own: opens {}",
    OwnKind.PROGRAM: "Your own: runs {}",
}
_TITLES = {
    OwnKind.KEYS: "Press {}",
    OwnKind.ADDRESS: "Open {}",
    OwnKind.PROGRAM: "Run {}",
}
_SHOWN = 60


def title(own: OwnCommand) -> str:
    """What it does, for the feed; text that is typed is the user's affair and not in it."""
    if own.kind is OwnKind.TEXT:
        return f"Type the text of “{own.phrase}”"
    return _TITLES[own.kind].format(_short(own.value))


def explanation(own: OwnCommand) -> str:
    """What it does, for the list of commands."""
    return HELP[own.kind].format(_short(own.value))


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def value_problem(own: OwnCommand, environment: Mapping[str, str]) -> str:
    """Why the value cannot be, in words for people; empty where it can."""
    if not own.value.strip():
        missing = {
            OwnKind.KEYS: "Write the keys, such as Ctrl+Shift+T.",
            OwnKind.TEXT: "Write the text that is to be typed.",
            OwnKind.ADDRESS: "Write the address, such as https://example.org.",
            OwnKind.PROGRAM: "Write the program and its arguments, such as xterm -e top.",
        }
        return missing[own.kind]
    if own.kind is OwnKind.KEYS and read_keys(own.value) is None:
        return "These are no keys. Join them with +, and set presses apart with spaces: Ctrl+K Ctrl+S."
    if own.kind is OwnKind.ADDRESS and not is_address(own.value):
        return "Only whole web addresses can be opened, such as https://example.org/page."
    if own.kind is OwnKind.PROGRAM:
        return _program_problem(own.value, environment)
    return ""


def is_address(text: str) -> bool:
    """Whether this is a whole http or https address."""
    try:
        parts = urlsplit(text.strip())
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, text.strip()))
    except ValueError:
        return False


def command_line(value: str) -> list[str]:
    """The program and its arguments, ~ filled in; ValueError where quotes do not match."""
    return [str(Path(part).expanduser()) if part.startswith("~/") else part for part in shlex.split(value)]


def _program_problem(value: str, environment: Mapping[str, str]) -> str:
    try:
        command = command_line(value)
    except ValueError:
        return "The quotes do not match."
    if not command or shutil.which(command[0], path=environment.get("PATH")) is None:
        return f"No program “{command[0] if command else ''}” is installed here."
    return ""
