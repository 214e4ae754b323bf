"""The wire of ``/v1/realtime``: JSON events as frozen tagged structs, in vLLM's vocabulary plus Sayso's own events.

Sources: vLLM's realtime endpoint (event names, fields and error codes), with additive fields that its clients
ignore. Events named ``sayso.*`` go only to clients that asked for them in ``session.update``. Times are
milliseconds of audio since the first sample of the open turn; a turn ends with ``transcription.done``, an ``error``
that says so, or ``input_audio_buffer.clear``.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SAMPLE_RATE = 16_000
"""vLLM's dialect carries 16-bit little-endian mono PCM at this rate, in base64."""


class ClientEvent(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of what a client sends; unknown fields are ignored, as upstream does."""


class SaysoIdle(msgspec.Struct, frozen=True):
    """A shorter idle policy than the server's own, in seconds without a message; 0 leaves the server's."""

    close_after_s: float = 0.0
    warn_before_s: float = 0.0
    park_after_s: float = 0.0
    """The session's keys and values go to host memory."""
    drop_after_s: float = 0.0
    """They are freed, and computed again when the client goes on."""


SaysoEvent = Literal["partial", "words", "speech", "marker", "engine", "idle", "alternatives"]


class SaysoOptions(msgspec.Struct, frozen=True):
    """The opt-in part of ``session.update``."""

    events: tuple[SaysoEvent, ...] = ()
    bias: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    """Whole sentences that are likely to be said, as they are written: where one is nearly as likely as the text of a
    short turn it is told among the ``alternatives``. ``session.updated`` does not repeat them."""
    idle: SaysoIdle = SaysoIdle()
    delay_ms: int = 0
    """How far text may be behind its sound, for models that can choose; 0 leaves it to the model."""
    resumable: bool = False
    """Whether the session is to wait for its client when the connection is lost; answered by ``sayso.resumable``."""
    resume: str = ""
    """The token of a session whose connection was lost, to go on with it; then ``heard`` counts too."""
    heard: int = 0
    """Frames that the client got since ``sayso.resumable``."""


class SessionUpdate(ClientEvent, frozen=True, tag="session.update"):
    """Choose the model (required, top level) and, additively, language, prompt and Sayso's events."""

    model: str | None = None
    language: str = ""
    prompt: str = ""
    sayso: SaysoOptions | None = None


class Append(ClientEvent, frozen=True, tag="input_audio_buffer.append"):
    audio: str


class Commit(ClientEvent, frozen=True, tag="input_audio_buffer.commit"):
    """``final=False`` starts a transcription, ``final=True`` ends its audio."""

    final: bool = False


class Clear(ClientEvent, frozen=True, tag="input_audio_buffer.clear"):
    """Additive: drop the open turn, its audio and its text."""


class HeardFrames(ClientEvent, frozen=True, tag="sayso.heard"):
    """Additive: the client has got so many frames since ``sayso.resumable``, so the server need not keep them."""

    frames: int


AnyClientEvent = SessionUpdate | Append | Commit | Clear | HeardFrames


class ServerEvent(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of what the server sends."""


class SessionObject(msgspec.Struct, frozen=True):
    """Additive: the session as clients of other dialects look for it; vLLM's clients ignore it."""

    id: str
    model: str = ""
    object: str = "realtime.transcription_session"
    type: str = "transcription"


class SessionCreated(ServerEvent, frozen=True, tag="session.created"):
    id: str
    created: int
    event_id: str = ""
    server: str = "sayso"
    """Additive: how a client tells a Sayso server from another one."""
    session: SessionObject | None = None


class SessionUpdated(ServerEvent, frozen=True, tag="session.updated"):
    """Additive: confirms ``session.update`` with what is in force."""

    id: str
    model: str
    event_id: str = ""
    sayso: SaysoOptions | None = None


class Cleared(ServerEvent, frozen=True, tag="input_audio_buffer.cleared"):
    """Additive: answers ``input_audio_buffer.clear``; whatever came before it belongs to what was dropped."""

    event_id: str = ""


class Delta(ServerEvent, frozen=True, tag="transcription.delta"):
    """Stable text only: the deltas of a turn, joined, are the text of its ``transcription.done``."""

    delta: str


class Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: None = None


class Done(ServerEvent, frozen=True, tag="transcription.done"):
    text: str
    usage: Usage


class Error(ServerEvent, frozen=True, tag="error"):
    """``error`` is text for people, ``code`` is for programs.

    Codes of upstream: invalid_json, invalid_event, invalid_audio, model_not_found, model_not_validated,
    unknown_event, processing_error. Ours: invalid_frame, buffer_full, engine_failed, already_committed,
    audio_lost, resume_failed, session_limit, shutting_down, idle_timeout, session_expired, session_closed; and what the
    engine says of a session, as it says it.
    """

    error: str
    code: str | None = None
    turn_lost: bool = False
    """Additive: true when the open turn ended with this error and no ``transcription.done`` follows."""
    lost_ms: int = 0
    """Additive: so much of the open turn's audio will have no text; the turn goes on."""


class Partial(ServerEvent, frozen=True, tag="sayso.partial"):
    """All tentative text of the open turn: replaces the one before; any delta clears it too."""

    text: str
    start_ms: int
    end_ms: int


class WireWord(msgspec.Struct, frozen=True):
    text: str
    start_ms: int
    end_ms: int
    probability: float


class Words(ServerEvent, frozen=True, tag="sayso.words"):
    """The words of the delta just sent, with their times."""

    words: tuple[WireWord, ...]


class WireAlternative(msgspec.Struct, frozen=True):
    """``behind``: natural logarithm of how much likelier the turn's own text is; below 0 the model preferred this.

    ``by_language`` is the same by language alone, as if nothing had been heard; null where none of the expected
    sentences is near. Who knows that both are about equally likely to be said can take some of it off.
    """

    text: str
    behind: float
    by_language: float | None = None


class Alternatives(ServerEvent, frozen=True, tag="sayso.alternatives"):
    """What a short turn may have been instead of the ``transcription.done`` that follows, the likeliest first.

    A client that asks for this gets the stable text of a turn of up to five seconds as a whole, at its end.
    """

    texts: tuple[WireAlternative, ...]


class SpeechEvent(ServerEvent, frozen=True, tag="sayso.speech"):
    kind: Literal["start", "stop"]
    at_ms: int


class Marker(ServerEvent, frozen=True, tag="sayso.marker"):
    """All audio of the open turn before this time has come out as stable text and need not be kept for a replay."""

    audio_ms: int


class EngineState(ServerEvent, frozen=True, tag="sayso.engine"):
    """What the engine does, in a word for programs and a line for people.

    ``idle``: it has given its memory back, and starts again by itself with the next audio, of which nothing is lost.
    """

    state: Literal["starting", "loading", "ready", "idle", "restarting", "failed"]
    detail: str = ""
    model: str = ""
    """The model's own name once it is known: a session may have asked for ``auto``."""


class IdleWarning(ServerEvent, frozen=True, tag="sayso.idle"):
    """Nothing has come for long: the open turn is finished and the connection closed in so many seconds.

    Anything that the client sends puts it off; the close is 1000 after an ``error`` with the code ``idle_timeout``.
    """

    closes_in_s: float


class Resumable(ServerEvent, frozen=True, tag="sayso.resumable"):
    """When the connection is lost, another one may go on with this session for so long; frames count from here."""

    token: str
    grace_s: float


class Resumed(ServerEvent, frozen=True, tag="sayso.resumed"):
    """This connection goes on with the session of a lost one. Not counted; the frames that were missed follow.

    ``received``: events of the client that came, all but ``session.update`` and ``sayso.heard``; it sends those after
    them. The rest tells of the open turn: audio that came in bytes, and the time up to which it is confirmed.
    """

    id: str
    received: int
    state: str
    audio_bytes: int
    confirmed_ms: int


AnyServerEvent = (
    SessionCreated
    | SessionUpdated
    | Cleared
    | Delta
    | Done
    | Error
    | Partial
    | Words
    | Alternatives
    | SpeechEvent
    | Marker
    | EngineState
    | IdleWarning
    | Resumable
    | Resumed
)
