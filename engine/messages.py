"""The vocabulary of the pipe between the server and the engine process.

Every message is a frozen tagged struct: the declaration is codec and validator at once. They travel as
length-framed msgpack (``engine.channel``). Times are milliseconds of audio since the first sample of the open
*turn*; a turn ends with its ``Flushed`` or with a ``Cancel``, and the next sample then starts a new turn at 0 ms.
``epoch`` is the session's generation: the owner raises it with each ``Cancel``, and a result that carries an older
epoch is dropped by whoever receives it, so a late result never reaches a new owner. No torch here.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SAMPLE_RATE, PCM_BYTES = 16_000, 2
"""Of every ``Audio`` message: samples a second, and bytes of each."""


class Message(msgspec.Struct, frozen=True, tag=True, kw_only=False):
    """Base of all messages; the tag is the class name."""


class SessionOptions(msgspec.Struct, frozen=True):
    """What a client may choose for one session.

    ``language`` is an ISO-639-1 code, or empty for the model's own default; ``bias``: words that the client expects, if
    the runner can use them. ``partials``, ``words`` (times) and ``speech`` (events) are sent only if asked for.
    """

    language: str = ""
    prompt: str = ""
    bias: tuple[str, ...] = ()
    partials: bool = False
    words: bool = False
    speech: bool = False
    delay_ms: int = 0
    """How far text may be behind its sound, for models that can choose; 0 is the model's own."""
    alternatives: bool = False
    """Whether to tell what else a short utterance may have been; its text then comes as a whole at its end."""
    expected: tuple[str, ...] = ()  # Sentences as the model writes them, which are then looked for, if it can be done.


class Alternative(msgspec.Struct, frozen=True):
    """Another text for the same audio; ``behind``: natural logarithm of how much likelier the given text is, and
    ``by_language`` the same for a model that hears nothing, None where that was not computed."""

    text: str
    behind: float
    by_language: float | None = None


class Word(msgspec.Struct, frozen=True):
    """One word with its time in the turn; ``text`` carries its leading space, so that words join to the text."""

    text: str
    start_ms: int
    end_ms: int
    probability: float


class Retention(msgspec.Struct, frozen=True):
    """When sessions give their memory back: after so many seconds without work or a message. None is never.

    Under pressure, when the budgets of bytes are passed (0 is no budget), the longest idle go first. A session that
    has work keeps what it holds, whatever the budgets say.
    """

    park_s: float | None = None
    """Keys and values go from the device to a compact copy in host memory."""
    hibernate_s: float | None = None
    """They go to an encrypted file. Off by default, since it puts what follows from a voice on disk."""
    drop_s: float | None = None
    """They are freed, and computed again when the session goes on."""
    close_s: float | None = None
    """The session is closed with the reason ``idle_timeout``."""
    device_bytes: int = 0
    """Of keys and values, over all sessions."""
    host_bytes: int = 0
    """Of parked sessions."""


Tier = Literal["device", "host", "disk", "dropped"]
"""Where a session's keys and values are; ``dropped`` is nowhere."""


# Down: from the server to the engine.


class Load(Message, frozen=True):
    """Load a model; answered by ``Ready`` after a warm inference, or by ``Failed`` with no session."""

    model: str
    device: str = "auto"
    threads: int = 0
    """0 lets the engine choose for this machine."""
    precision: str = "auto"
    """Number types, such as ``int8`` or ``bfloat16``, or ``weights/cache``; ``auto`` lets the engine choose."""
    retention: Retention = Retention()
    text_model: str = ""
    """A text model beside the speech model, for sessions opened with ``OpenText``, and its precision; empty: none."""
    text_precision: str = "auto"


class Retain(Message, frozen=True):
    """Replace the rules of retention; they count at once."""

    retention: Retention


class Park(Message, frozen=True):
    """Put a waiting session's keys and values away; answered by ``Parked``. Its next audio brings them back."""

    session: str
    tier: Literal["host", "disk", "dropped"] = "host"


class Restore(Message, frozen=True):
    """Bring a session back before its next audio; answered by ``Parked`` with the tier it is in then."""

    session: str


class Unload(Message, frozen=True):
    """Drop the weights; open sessions are closed with the reason ``unloaded``."""


class Open(Message, frozen=True):
    """Open a session; answered by ``Opened`` or ``Refused``."""

    session: str
    epoch: int = 0
    options: SessionOptions = SessionOptions()


class Configure(Message, frozen=True):
    """Replace the options of an open session; they count from the next turn on."""

    session: str
    options: SessionOptions


class Audio(Message, frozen=True):
    """Samples that follow those sent before: 16-bit PCM, little endian, mono, as the wire carries them."""

    session: str
    epoch: int
    samples: bytes


class Flush(Message, frozen=True):
    """End the open turn: everything sent before comes out as stable text, then ``Flushed`` with this marker."""

    session: str
    epoch: int
    marker: int


class Cancel(Message, frozen=True):
    """Drop the open turn, its audio and its text; what follows belongs to ``epoch``, which is higher than before."""

    session: str
    epoch: int


class Close(Message, frozen=True):
    """Close a session; answered by ``Closed``."""

    session: str


class OpenText(Message, frozen=True):
    """Open a session of the text model; answered by ``Opened`` or ``Refused``. ``Close`` ends it at once."""

    session: str


class Prompt(Message, frozen=True):
    """A chunk that joins a text session behind what it holds, and is answered by ``Tokens``; ids or text, not both.

    ``params`` are sampling parameters by name, as ``engine.sampling.SamplingParams`` has them. A chunk that cannot be
    used fails the session. When it left the queue ``Joined`` says so: a sender should keep few chunks waiting.
    """

    session: str
    tokens: tuple[int, ...] = ()
    text: str = ""
    params: dict[str, Any] = {}


class EndPrompts(Message, frozen=True):
    """No chunk will follow; after the last answer the session is closed."""

    session: str


class Taken(Message, frozen=True):
    """So many tokens of a text session were taken by who wanted them. A session whose tokens are not taken pauses."""

    session: str
    count: int


class Ping(Message, frozen=True):
    """Answered by ``Pong`` with the same number, by the loop that does the work: a sign that it does not hang."""

    number: int


class Stop(Message, frozen=True):
    """End the process after the sessions were closed."""


TextDown = OpenText | Prompt | EndPrompts | Taken
Down = (
    Load | Retain | Park | Restore | Unload | Open | Configure | Audio | Flush | Cancel | Close | TextDown | Ping | Stop
)


# Up: from the engine to the server.


class Ready(Message, frozen=True):
    """The model can transcribe at once: weights are loaded and one silent inference has run."""

    model: str
    device: str
    threads: int
    languages: tuple[str, ...]
    load_ms: int
    text_model: str = ""
    """Its name, when one was loaded beside the speech model."""
    devices: tuple[str, ...] = ()
    """What models can run on here, the best first."""


class Opened(Message, frozen=True):
    session: str


class Refused(Message, frozen=True):
    """The session cannot be opened: ``code`` for programs, ``message`` for people."""

    session: str
    code: str
    message: str


class Speech(Message, frozen=True):
    """Speech started or stopped at this time of the turn, as the voice activity detector hears it."""

    session: str
    epoch: int
    kind: Literal["start", "stop"]
    at_ms: int


class Text(Message, frozen=True):
    """Text of the open turn.

    Stable text is appended to what came before and is never taken back: joined, the stable pieces of a turn are its
    transcript, spaces included (the first piece of a turn starts without one). Tentative text replaces all tentative
    text before it; an empty tentative piece clears it, and so does any stable piece. An empty stable one tells silence.
    """

    session: str
    epoch: int
    piece: str
    stable: bool
    start_ms: int
    end_ms: int
    words: tuple[Word, ...] = ()
    tokens: int = 0
    """Model tokens behind this piece, for usage figures."""
    alternatives: tuple[Alternative, ...] = ()
    """What a whole utterance may have been instead, the likeliest first; only stable pieces have any."""


class Logprob(msgspec.Struct, frozen=True):
    """Natural logarithms: of the chosen token, its rank among all (0 is likeliest), and the likeliest with theirs."""

    chosen: float
    rank: int
    top: tuple[tuple[int, float], ...] = ()


class Token(msgspec.Struct, frozen=True):
    """One token of an answer, or (``token`` None) a marker that says how the session ended.

    ``in_context`` is whether later chunks follow it; ``finish_reason`` is on the last of a chunk, with the tokens that
    its prompt had, that were generated, and that were computed before the first of them.
    """

    chunk: int
    token: int | None
    text: str
    in_context: bool
    finish_reason: str | None = None
    finished: bool = False
    logprob: Logprob | None = None
    usage: tuple[int, int, int] | None = None


class Tokens(Message, frozen=True):
    """Tokens that follow those sent before, in order."""

    session: str
    tokens: tuple[Token, ...]


class Joined(Message, frozen=True):
    """The chunk of this number (from 0) left the queue of its session: there is room for one more."""

    session: str
    chunk: int


class Flushed(Message, frozen=True):
    """All audio before the ``Flush`` with this marker, the whole turn's, has come out as stable text."""

    session: str
    epoch: int
    marker: int
    audio_ms: int
    prompt_tokens: int = 0
    """Positions of the model's context that the turn's audio and prompt took, for usage figures."""


class Parked(Message, frozen=True):
    """A session's keys and values are in another tier now, or stayed where they were, with a ``code`` that says why.

    ``session_busy``: it has work; ``nothing_held``: it holds none; ``not_recomputable``: too much of its audio is gone
    to drop it; ``hibernation_failed``: the disk is full or may not be written, so it was dropped, or stayed;
    ``out_of_memory``: so was it because host memory is full; ``session_limit``: no place is free to come back to.
    """

    session: str
    tier: Tier
    code: str = ""
    message: str = ""
    took_ms: float = 0.0


class Ledger(msgspec.Struct, frozen=True):
    """Memory of one session in bytes. ``kv`` is on the device, ``kv_host`` parked, ``kv_disk`` in a file."""

    session: str
    state: str
    kv: int
    audio: int
    features: int
    idle_s: float
    age_s: float
    kv_host: int = 0
    kv_disk: int = 0


class Memory(Message, frozen=True):
    """Memory of the engine: the process as the operating system sees it, and every session."""

    resident: int
    weights: int
    device: int
    """Memory that the engine holds on a device of its own, caches and weights included; 0 on the CPU."""
    sessions: tuple[Ledger, ...]
    kv: int = 0
    kv_host: int = 0
    kv_disk: int = 0
    """Sums over the sessions."""


class Metrics(Message, frozen=True):
    """Counters since the process started, sent about once a second while there is work."""

    steps: int
    step_ms: float
    batch: float
    lag_ms: float
    """Largest time by which a session's text is behind its audio."""


class Closed(Message, frozen=True):
    session: str
    reason: str


class Pong(Message, frozen=True):
    number: int


class Failed(Message, frozen=True):
    """Something went wrong: for one session, or for the whole engine when ``session`` is None."""

    session: str | None
    code: str
    message: str


TextUp = Tokens | Joined
Up = Ready | Opened | Refused | Speech | Text | TextUp | Flushed | Parked | Memory | Metrics | Closed | Pong | Failed
