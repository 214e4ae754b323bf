"""What a client wants and what the turn engine tells it, in no dialect at all. Pure values.

A dialect decodes its own events into intents and encodes happenings into its own events; the turn engine knows only
these. Times are milliseconds since the first sample of the open turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sayso.server.protocol.events import SaysoOptions

EngineWord = Literal["starting", "loading", "ready", "idle", "restarting", "failed"]


# From the client.


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose the model and the options of the connection; they count from the next turn on."""

    model: str
    language: str = ""
    prompt: str = ""
    sayso: SaysoOptions | None = None


@dataclass(frozen=True, slots=True)
class AddAudio:
    """16-bit little-endian mono PCM at 16 kHz, a whole number of samples, not empty."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Transcribe from the audio that waits, and what follows."""


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The turn's audio is whole."""


@dataclass(frozen=True, slots=True)
class DropTurn:
    """Forget the open turn and all audio that waits."""


@dataclass(frozen=True, slots=True)
class HaveHeard:
    """The client has got so many frames."""

    frames: int


Intent = Choose | AddAudio | StartTurn | EndTurn | DropTurn | HaveHeard


# To the client.


@dataclass(frozen=True, slots=True)
class Chosen:
    model: str
    sayso: SaysoOptions | None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Answers ``DropTurn``."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    text: str
    start_ms: int
    end_ms: int
    probability: float


@dataclass(frozen=True, slots=True)
class StableText:
    """Text that is appended and never taken back."""

    piece: str
    words: Sequence[HeardWord]


@dataclass(frozen=True, slots=True)
class TentativeText:
    """Replaces all tentative text of the turn; empty clears it."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class SpeechHeard:
    kind: Literal["start", "stop"]
    at_ms: int


@dataclass(frozen=True, slots=True)
class AudioConfirmed:
    """All audio before this time has come out as stable text."""

    audio_ms: int


@dataclass(frozen=True, slots=True)
class OtherText:
    """What a turn may have been instead; ``behind``: natural logarithm of how much likelier its own text is.

    ``by_language`` is the same by language alone.
    """

    text: str
    behind: float
    by_language: float | None = None


@dataclass(frozen=True, slots=True)
class TurnDone:
    text: str
    prompt_tokens: int
    completion_tokens: int
    others: Sequence[OtherText] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something the client must know; ``turn_lost`` when the open turn ends with it."""

    code: str
    message: str
    turn_lost: bool = False
    lost_ms: int = 0
    """Audio of the open turn that is lost while the turn goes on."""


@dataclass(frozen=True, slots=True)
class EngineNews:
    state: EngineWord
    detail: str = ""
    model: str = ""
    """The name of the model that is loaded, or was last."""


@dataclass(frozen=True, slots=True)
class Served:
    """The model names that a client may choose; not ``certain`` until the engine has said which one it loaded."""

    names: frozenset[str]
    certain: bool


@dataclass(frozen=True, slots=True)
class IdleSoon:
    """The client has been quiet for long and is let go unless it says something."""

    closes_in_s: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """The engine was lost in mid-turn, and another one gets the audio again: nothing that a client must know."""


@dataclass(frozen=True, slots=True)
class MayResume:
    """Another connection may go on with this session when this one is lost."""

    token: str
    grace_s: float


@dataclass(frozen=True, slots=True)
class GoesOn:
    """This connection goes on with a session whose own was lost."""

    received: int
    state: str
    audio_bytes: int
    confirmed_ms: int


Happening = (
    Chosen
    | Dropped
    | StableText
    | TentativeText
    | SpeechHeard
    | AudioConfirmed
    | TurnDone
    | Trouble
    | EngineNews
    | IdleSoon
    | Replayed
    | MayResume
    | GoesOn
)
