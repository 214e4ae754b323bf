"""What a model must offer to run in the engine. Pure declarations: numpy for audio, no torch.

A *runner* is one loaded model. It makes a *stream* for each utterance (``gated``: the voice detector decides where
those are) or for each turn (not ``gated``: a model that hears every sample, such as one with a step every 80 ms).
A stream offers work when it has some; the scheduler picks offers of equal ``batch_key``, the runner runs those
streams as one batch, and their text is taken from them. Everything happens in the loop thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from sayso.engine.blocks import Budget
from sayso.engine.messages import Alternative, SessionOptions
from sayso.engine.parcel import Parcel
from sayso.engine.tape import Tape


@dataclass
class Utterance:
    """A stretch of a turn's audio that a stream transcribes; it grows while the session hears more.

    Positions are samples since the turn's start. ``end`` is how far there is audio to use: it stands still during a
    pause, so that a text decoded in the pause is the text of the utterance if nothing follows.
    """

    tape: Tape
    start: int
    end: int
    voice_end: int
    """Where the last speech frame ended."""
    voiced_frames: int = 0
    voice_sum: float = 0.0
    """Sum of the speech probabilities of the frames counted in ``voiced_frames``."""
    paused: bool = False
    ended: bool = False

    @property
    def voice(self) -> float:
        """Mean speech probability of the frames that counted as speech."""
        return self.voice_sum / self.voiced_frames if self.voiced_frames else 0.0


@dataclass(frozen=True)
class SpokenWord:
    """One word with its leading space; times are samples since the turn's start."""

    text: str
    start: int
    end: int
    probability: float
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True)
class Piece:
    """Text that a stream gives out: stable pieces are appended, a tentative one replaces the tentative one before."""

    words: tuple[SpokenWord, ...]
    stable: bool
    alternatives: tuple[Alternative, ...] = ()
    """What a whole utterance may have been instead."""

    @property
    def text(self) -> str:
        return "".join(word.text for word in self.words)


@dataclass(frozen=True)
class Offer:
    """Work that a stream could do now: what it costs, by when it should be done, what it can be batched with."""

    cost_ms: float
    deadline: float
    """On the loop's clock, in seconds."""
    batch_key: tuple[object, ...] = ()


@dataclass(frozen=True)
class Holding:
    """Bytes that a stream holds beside its audio."""

    kv: int = 0
    features: int = 0


@dataclass(frozen=True)
class Before:
    """What came before an utterance in its turn, for models that read on from earlier text."""

    words: tuple[SpokenWord, ...] = field(default=())


class Stream(Protocol):
    """The state of one model over one utterance."""

    utterance: Utterance

    @property
    def done(self) -> bool:
        """The utterance has ended and all its text was taken."""
        ...

    @property
    def needed_from(self) -> int:
        """Audio before this position is not needed any more."""
        ...

    @property
    def behind(self) -> int:
        """Samples that are there and no text has looked at yet."""
        ...

    @property
    def holding(self) -> Holding: ...

    @property
    def due(self) -> bool:
        """Whether there is work to do; to ask changes nothing."""
        ...

    def offer(self, now: float) -> Offer | None:
        """The work to do at ``now`` (loop clock, seconds), or None; it is due from the first time it is offered."""
        ...

    def take(self) -> list[Piece]:
        """Text that came since the last call, in order."""
        ...

    def close(self) -> None:
        """Give back what the stream holds in its model; nothing is asked of it afterwards. May be called again."""
        ...


@runtime_checkable
class Restable(Stream, Protocol):
    """A stream whose keys and values can be put away while it has no work."""

    @property
    def recomputable(self) -> bool:
        """Whether all is kept from which they can be computed again."""
        ...

    def pack(self) -> Parcel:
        """Give the place in the model back; what was in it is in the parcel, in host memory."""
        ...

    def unpack(self, parcel: Parcel | None) -> None:
        """Take a place and go on as if nothing had been packed, or, without a parcel, as ``forget`` left it.

        Raises EngineError ``session_limit`` when no place is free; then nothing is changed.
        """
        ...

    def forget(self) -> None:
        """Give the place back if it has one; the next work computes everything again, and says nothing twice."""
        ...


class Runner(Protocol):
    """One loaded model."""

    name: str
    gated: bool
    languages: tuple[str, ...]

    positions_a_second: float
    """Positions of the model's context that a second of audio takes, for usage figures."""

    @property
    def weight_bytes(self) -> int: ...

    @property
    def mapped_bytes(self) -> int:
        """Memory of a device of its own that was not allocated by torch."""
        ...

    def warm(self) -> None:
        """Run once on silence, so that the first real step is not slower than the others."""
        ...

    def stream(self, utterance: Utterance, options: SessionOptions, before: Before) -> Stream: ...

    def run(self, streams: Sequence[Stream]) -> None:
        """One batched step for streams whose offers have equal keys; equal to each on its own."""
        ...


@runtime_checkable
class Budgeted(Protocol):
    """A runner whose sessions hold memory that other models of the process could use."""

    @property
    def place_bytes(self) -> int:
        """What one session takes at most."""
        ...

    def draw_on(self, budget: Budget) -> None:
        """From now on a session gets a place only when this budget has the memory; nobody has one yet."""
        ...
