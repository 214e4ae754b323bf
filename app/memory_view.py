"""What the page about sessions and memory shows: frozen values, published with the snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from sayso.app.memory_policy import PRESETS, Controls, Preset


class Source(StrEnum):
    """Where the figures come from, and so which of them there are."""

    LOCAL = "local"
    """The server that this desktop has started."""
    ENDED = "ended"
    """That server has ended to give everything back."""
    REMOTE = "remote"
    PLAIN = "plain"
    """A server that is not ours and reports nothing."""
    UNREACHED = "unreached"


class Freeing(StrEnum):
    NO = "no"
    WAITING = "waiting"
    """It is asked for, and happens when nobody speaks."""
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Sample:
    """Memory at one moment, in bytes. None where nobody tells; 0 where the process does not run.

    ``device`` is what the engine holds on a graphics card.
    """

    at_s: float
    """Seconds on a clock that only goes forward."""
    desktop: int
    server: int | None = None
    engine: int | None = None
    device: int | None = None

    @property
    def total(self) -> int:
        """Of the processes that are known."""
        return self.desktop + (self.server or 0) + (self.engine or 0)


class Place(StrEnum):
    """Where a session's keys and values can be put away, each deeper than the one before."""

    HOST = "host"
    DISK = "disk"
    DROPPED = "dropped"
    """Nowhere: they are computed again when its client goes on."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session of the server in use; bytes by where they are."""

    id: str
    state: str
    idle_s: float
    age_s: float
    device: int = 0
    host: int = 0
    disk: int = 0
    audio: int = 0
    own: bool = False
    """It is this desktop's."""

    @property
    def deeper(self) -> tuple[Place, ...]:
        """Where its keys and values can still be put; nowhere when the model holds none for it."""
        if self.device:
            return tuple(Place)
        return (Place.DISK, Place.DROPPED) if self.host else (Place.DROPPED,) if self.disk else ()


class StartTimes(msgspec.Struct, frozen=True):
    """How long the last start took on this machine, in milliseconds by what had ended; 0 is not measured yet."""

    model: str = ""
    unloaded_ms: int = 0
    ended_ms: int = 0
    everything_ms: int = 0
    """From the start of the local server until its engine could transcribe."""


NOT_MEASURED = StartTimes()


@dataclass(frozen=True, slots=True)
class MemoryView:
    preset: Preset = Preset.BALANCED
    controls: Controls = PRESETS[Preset.BALANCED]
    source: Source = Source.UNREACHED
    server: str = ""
    """The remote server's name; empty for the local one."""
    theirs: Controls | None = None
    """What a remote server says is in force there; None where it does not tell."""
    engine: str = ""
    """The engine's state in a word, as the server tells it; empty where nobody tells."""
    scarcity_unknown: bool = False
    """The server's system does not tell how scarce memory is, so that no rule can go by it."""
    samples: tuple[Sample, ...] = ()
    """The last ten minutes, oldest first; moments at which nobody looked are missing."""
    sessions: tuple[SessionRow, ...] = ()
    refusal: str = ""
    """Why the sessions are not told, for people."""
    starts: StartTimes = NOT_MEASURED
    freeing: Freeing = Freeing.NO
    freed: tuple[Sample, Sample] | None = None
    """Before and after the last *Free memory now*."""
    fault: str = ""
    """Why the last thing that was asked for was not done, for people."""
    session_fault: str = ""
    """The same of the last thing that was asked for one session."""
