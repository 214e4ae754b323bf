"""What the page *Server* shows: the remote server of the settings, its key's place, and what a trial found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class KeyPlace(StrEnum):
    """Where the key of a server is kept."""

    NONE = "none"
    KEYRING = "keyring"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Finding:
    """``code`` is for programs; ``headline`` and ``advice`` are for people."""

    works: bool
    code: str
    headline: str
    advice: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """What is known of the server: a name and a value each, for people."""
    models: tuple[str, ...] = ()
    """What it offers, where it tells."""


@dataclass(frozen=True, slots=True)
class RemoteServerView:
    url: str = ""
    """The remote server of the settings, also while the embedded one is in use; empty when there never was one."""
    model: str = ""
    """The model asked of it; empty takes the server's own."""
    key_url: str = ""
    """The server whose key was looked for last, and where that key is."""
    key_place: KeyPlace = KeyPlace.NONE
    trying: bool = False
    tried_url: str = ""
    """The server that is being tried or was tried last."""
    finding: Finding | None = None
    """Of the last trial; None before it ended."""
