"""What the windows show: immutable values that the assistant publishes and the user interface only reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sayso.app.commands_view import CommandsView
from sayso.app.engine_view import EngineView
from sayso.app.first_run_view import FirstRunView
from sayso.app.history.view import HistoryView
from sayso.app.memory_view import MemoryView
from sayso.app.microphone_check_view import MicrophoneCheckView
from sayso.app.remote_server_view import RemoteServerView
from sayso.app.ways_view import OverlayPlace, WaysView


class DesktopState(StrEnum):
    """The desktop's own state; tray, buttons and capture follow this only."""

    STARTING = "starting"
    IDLE = "idle"
    LISTENING = "listening"
    RECONNECTING = "reconnecting"
    QUITTING = "quitting"


class MicrophoneState(StrEnum):
    CLOSED = "closed"
    OPENING = "opening"
    READY = "ready"
    HEARING = "hearing"
    NO_SIGNAL = "no signal"
    MISSING = "missing"
    UNUSABLE = "unusable"
    """There is one, but another program has it, or the sound system does not give it."""

    @property
    def is_without(self) -> bool:
        """Whether there is nothing to hear with."""
        return self in (MicrophoneState.MISSING, MicrophoneState.UNUSABLE)


class ServerState(StrEnum):
    STARTING = "starting"
    CONNECTING = "connecting"
    LOADING = "loading"
    READY = "ready"
    RESTING = "resting"
    """It has given memory back; the next speech, of which nothing is lost, brings it back."""
    LOST = "lost"
    REFUSED = "refused"


class ServerKind(StrEnum):
    EMBEDDED = "embedded"
    REMOTE = "remote"


class Mode(StrEnum):
    """What happens to an utterance that is no command: nothing, or it is typed into the focused window."""

    COMMANDS = "commands"
    DICTATION = "dictation"


class FeedState(StrEnum):
    HEARD = "heard"
    CONFIRM = "confirm"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    UNDONE = "undone"


class LineKind(StrEnum):
    """What became of an utterance."""

    OPEN = "open"
    COMMAND = "command"
    DICTATED = "dictated"
    PLAIN = "plain"
    ASLEEP = "asleep"
    ASIDE = "aside"
    """Said without the wake phrase where that is asked for."""
    LOST = "lost"
    MISSED = "missed"
    """No utterance: sound that was not heard between two of them, whether anybody spoke or not."""


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance: stable text never changes but by growing; tentative text may change with each snapshot."""

    id: int
    stable: str
    tentative: str
    kind: LineKind
    started_at: float
    """Seconds since the epoch."""
    lost_ms: int = 0
    """Speech of this utterance that could not be transcribed."""
    meant: str = ""
    """For an utterance that is no command: the one most like it, as it would be said."""


DICTATION = "dictation"
"""Stands for the intent of text that is no command and is typed."""


@dataclass(frozen=True, slots=True)
class Why:
    """What an action was understood from, and when each stage was reached.

    Times are seconds since the epoch; 0 for a stage that was not reached or not seen.
    """

    intent: str
    """``family.verb`` of the command."""
    understood: str
    """The words that matched, as the commands spell them."""
    score: float
    """100 for exactly a command, less where an error of recognition was assumed."""
    ended_at: float = 0.0
    """When the speech ended."""
    text_at: float = 0.0
    decided_at: float = 0.0
    done_at: float = 0.0


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One action from *heard* to *done*."""

    id: int
    heard: str
    title: str
    """What it does, in words for people: “Open Firefox”."""
    state: FeedState
    detail: str = ""
    """The result or the reason, in words for people."""
    can_undo: bool = False
    why: Why | None = None
    """None for what no command was said for, such as a timer that is over."""
    yes: str = "yes"
    """What is to be said to have done what it asks about."""


@dataclass(frozen=True, slots=True)
class MicrophoneView:
    state: MicrophoneState
    name: str = ""
    detail: str = ""
    level_db: float = -96.0
    """Level of the last 50 ms in dBFS, -96 for digital silence."""
    clipping: bool = False


@dataclass(frozen=True, slots=True)
class ServerView:
    kind: ServerKind
    state: ServerState
    url: str = ""
    """Of a remote server; empty for the embedded one."""
    model: str = ""
    detail: str = ""
    """What is happening or what to do, in words for people."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that stays until it is dismissed or its cause is gone."""

    code: str
    text: str
    severe: bool = False


@dataclass(frozen=True, slots=True)
class MicrophoneChoice:
    """One that can be chosen: ``name`` identifies it, ``label`` is for people."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class OptionsView:
    """What the settings window shows besides the rest of the snapshot."""

    microphone: str = ""
    """The name or label of the chosen one; empty follows the system's default."""
    microphones: tuple[MicrophoneChoice, ...] = ()
    wait_ms: int = 550
    """Pause that ends an utterance."""
    listens_at_start: bool = True
    overlay: bool = True
    """Whether what is heard is shown over other windows."""
    overlay_place: OverlayPlace = OverlayPlace.BOTTOM


@dataclass(frozen=True, slots=True)
class Snapshot:
    state: DesktopState
    microphone: MicrophoneView
    server: ServerView
    mode: Mode
    lines: tuple[Line, ...] = ()
    feed: tuple[FeedItem, ...] = ()
    notices: tuple[Notice, ...] = ()
    behind_ms: int = 0
    """Audio that waits for the server, shown above one second."""
    asleep: bool = False
    """True after “stop listening”: speech is shown but only “start listening” acts."""
    close_to_tray: bool = True
    starts_with_session: bool = False
    options: OptionsView = OptionsView()
    check: MicrophoneCheckView = field(default_factory=MicrophoneCheckView)
    engine: EngineView = field(default_factory=EngineView)
    guide: FirstRunView = field(default_factory=FirstRunView)
    commands: CommandsView = field(default_factory=CommandsView)
    history: HistoryView = field(default_factory=HistoryView)
    servers: RemoteServerView = field(default_factory=RemoteServerView)
    memory: MemoryView = field(default_factory=MemoryView)
    ways: WaysView = field(default_factory=WaysView)
