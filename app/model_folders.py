"""The user's own folders with models: what was typed as a path, and what they are called in a list."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import unquote, urlsplit


def path_of(typed: str) -> str:
    """The whole path that was meant, empty for none: “~”, quotes and a file manager's “file://” are understood."""
    text = typed.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    if not text:
        return ""
    path = Path(text)
    with contextlib.suppress(RuntimeError):  # “~somebody” who is not known here.
        path = path.expanduser()
    return os.path.normpath(path.absolute())


def titles(folders: Sequence[str]) -> dict[str, str]:
    """The folders' own names, with the folder around it for those that share one."""
    names = {folder: PurePath(folder).name or folder for folder in folders}
    count = Counter(names.values())
    return {
        folder: f"{name} ({PurePath(folder).parent.name})" if count[name] > 1 else name
        for folder, name in names.items()
    }
