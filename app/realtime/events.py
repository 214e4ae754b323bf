"""What the realtime client tells its owner: frozen values, times in milliseconds of the turn's own audio."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.app.commands.other_text import OtherText
from sayso.app.snapshot import ServerState


@dataclass(frozen=True, slots=True)
class TurnStable:
    """The next piece of the turn's text; the pieces of a turn, joined as they are, are its text. Never taken back."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TurnWord:
    """A word of stable text and when it was said."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class TurnWords:
    """When the words of the last ``TurnStable`` were said; only servers that know it tell it."""

    turn: int
    words: tuple[TurnWord, ...]


@dataclass(frozen=True, slots=True)
class TurnTentative:
    """What may follow the stable text: replaces the tentative text before, and joins the stable text as it is."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The turn is over; ``text`` is all of its stable text. Every turn that is not cancelled ends with this.

    ``others`` is what it may have been instead, the likeliest first; only servers that know it tell it.
    """

    turn: int
    text: str
    others: tuple[OtherText, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnLost:
    """Speech of this turn that could not be transcribed: ``lost_ms`` more than told before. The turn goes on."""

    turn: int
    lost_ms: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Connection:
    """How the server is; ``detail`` says in words for people what happens or what to do."""

    state: ServerState
    url: str = ""
    model: str = ""
    detail: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Behind:
    """Audio that waits to be sent, told above one second, and 0 when it has been caught up."""

    ms: int


TurnEvent = TurnStable | TurnWords | TurnTentative | TurnDone | TurnLost
RealtimeEvent = TurnEvent | Connection | Behind
