"""What the page about the engine and the first-run guide show of models: frozen values, published with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AUTOMATIC = "auto"
"""The best of the installed models that suits the machine; the engine chooses."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model that hears."""

    name: str
    """How it is asked for; the path of a folder of the user's own."""
    languages: tuple[str, ...]
    download_bytes: int
    memory_bytes: int
    """An estimate of what it takes with its engine process."""
    licence: str
    installed: bool
    fetched_bytes: int = 0
    """What of it was fetched, whole or in part; 0 for what came with a package."""
    is_automatic: bool = False
    """It is what “automatic” is here."""
    factor: float | None = None
    """Measured here: seconds of computing for each second of speech."""
    title: str = ""
    """What people call it where that is not its name."""
    own: bool = False
    """It is a folder of the user's own, whose files are left alone."""
    told_as: str = ""
    """What an engine that runs it calls it where that is not its name."""
    fault: str = ""
    """Why a folder of the user's own cannot be used any more, for people."""

    @property
    def shown(self) -> str:
        return self.title or self.name


class Work(StrEnum):
    """What goes on with a model; one thing at a time."""

    NONE = "none"
    FETCHING = "fetching"
    MEASURING = "measuring"
    LOADING = "loading"
    """A server with the new choice starts while the old one goes on."""
    REMOVING = "removing"
    CHECKING = "checking"
    """A folder that the user has chosen is looked into."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the server in use says of its engine; empty or 0 where it does not tell."""

    state: str = ""
    model: str = ""
    device: str = ""
    threads: int = 0
    start_ms: int = 0
    resident_bytes: int = 0
    device_bytes: int = 0


@dataclass(frozen=True, slots=True)
class EngineView:
    remote: str = ""
    """The name of the remote server in use; empty for the engine on this machine."""
    facts: EngineFacts | None = None
    """None where the server tells nothing of its engine, or does not answer."""
    model: str = AUTOMATIC
    device: str = AUTOMATIC
    threads: int = 0
    most_threads: int = 1
    devices: tuple[str, ...] = ()
    """Those that the engine has found on this machine."""
    models: tuple[ModelRow, ...] = ()
    work: Work = Work.NONE
    about: str = ""
    """The model that the work is about, by its name."""
    done_bytes: int = 0
    total_bytes: int = 0
    fault: str = ""
    """Why the last thing that was asked for was not done, for people."""

    def shown(self, name: str) -> str:
        """What people call the model of this name."""
        return next((row.shown for row in self.models if row.name == name), name)

    @property
    def running(self) -> str:
        """The name of the model that the engine on this machine runs; empty where none does."""
        told = self.facts.model if self.facts is not None and not self.remote else ""
        chosen = [row for row in self.models if row.name == self.model and row.own]
        rows = chosen or [row for row in self.models if not row.own]
        return next((row.name for row in rows if told and (row.told_as or row.name) == told), "")
