"""The words of the window: what the states of a snapshot mean to a person. No Qt here, only text.

``State`` says in a headline what is going on and in a sentence what to do; ``tone`` chooses colour and glyph, and
never says more than the words do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from urllib.parse import urlsplit

from sayso.app.snapshot import (
    DICTATION,
    DesktopState,
    FeedItem,
    FeedState,
    Line,
    LineKind,
    MicrophoneState,
    Mode,
    ServerKind,
    ServerState,
    ServerView,
    Snapshot,
    Why,
)
from sayso.ui.way_wording import lacks_key, when_asleep, when_idle, when_listening

LISTEN_SHORTCUT = "Ctrl+L"
BEHIND_SHOWN_MS = 1000


class Tone(StrEnum):
    CALM = "calm"
    ACTIVE = "active"
    GOOD = "good"
    WAITING = "waiting"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class State:
    headline: str
    detail: str
    tone: Tone
    about_server: bool = False
    """Whether the trouble lies with the server and not with the microphone."""


def describe(snapshot: Snapshot) -> State:
    """What is going on, most urgent first: leaving, microphone trouble, server trouble, then the normal states."""
    if snapshot.state is DesktopState.QUITTING:
        return State("Closing", "The last words are being finished.", Tone.CALM)
    if snapshot.state is DesktopState.STARTING:
        return State("Starting", "Getting the microphone and the engine ready.", Tone.WAITING)
    if snapshot.microphone.state is MicrophoneState.MISSING:
        detail = snapshot.microphone.detail or "Connect one or switch it on in the sound settings."
        return State("No microphone", detail, Tone.BAD)
    if snapshot.microphone.state is MicrophoneState.UNUSABLE:
        detail = snapshot.microphone.detail or "Another program may have it. Close that, or choose another microphone."
        return State("Microphone blocked", detail, Tone.BAD)
    if snapshot.state is DesktopState.IDLE:
        return State("Not listening", when_idle(snapshot, LISTEN_SHORTCUT), Tone.CALM)
    return _microphone_trouble(snapshot) or _server_trouble(snapshot) or _listening(snapshot)


def _microphone_trouble(snapshot: Snapshot) -> State | None:
    microphone = snapshot.microphone
    if microphone.state in (MicrophoneState.OPENING, MicrophoneState.CLOSED):
        return State("Opening microphone", microphone.detail or microphone.name, Tone.WAITING)
    if microphone.state is MicrophoneState.NO_SIGNAL:
        fallback = "The microphone sends only silence. Check that it is not muted, or choose another one."
        return State("No signal", microphone.detail or fallback, Tone.BAD)
    return None


def _server_trouble(snapshot: Snapshot) -> State | None:
    server = snapshot.server
    kept = "What you say is kept and sent as soon as it is back."
    if server.state is ServerState.REFUSED:
        if server.kind is ServerKind.REMOTE:
            detail = server.detail or "Check its address and key below."
            return State("Server refused", detail, Tone.BAD, about_server=True)
        fallback = "“sayso doctor” says what is missing."
        return State("The engine cannot start", server.detail or fallback, Tone.BAD, about_server=True)
    if server.state is ServerState.LOST or snapshot.state is DesktopState.RECONNECTING:
        return State("Reconnecting", server.detail or kept, Tone.WAITING)
    hearing = snapshot.microphone.state is MicrophoneState.HEARING
    waking = (ServerState.STARTING, ServerState.LOADING, *((ServerState.RESTING,) if hearing else ()))
    if server.state in waking:
        name = "the engine" if server.kind is ServerKind.EMBEDDED else "the server's engine"
        if hearing:
            return State("Hearing you", f"Starting {name} … The words follow when it is ready.", Tone.WAITING)
        return State(f"Starting {name}", f"You can speak already: the words follow when {name} is ready.", Tone.WAITING)
    if server.state is ServerState.CONNECTING:
        headline = "Hearing you" if hearing else "Connecting"
        return State(headline, server.detail or "You can speak already: the words follow.", Tone.WAITING)
    return None


def _listening(snapshot: Snapshot) -> State:
    behind = ""
    if snapshot.behind_ms > BEHIND_SHOWN_MS:
        behind = f"The words are {snapshot.behind_ms / 1000:.1f} s behind; nothing is lost."
    if lacks_key(snapshot):
        return State("No key to hold", lacks_key(snapshot), Tone.BAD)
    if snapshot.asleep:
        return State("Asleep", behind or when_asleep(snapshot), Tone.CALM)
    if snapshot.server.state is ServerState.RESTING:
        fallback = "Speak: the engine starts again, and nothing you say is lost."
        return State("Resting", snapshot.server.detail or fallback, Tone.CALM)
    if snapshot.microphone.state is MicrophoneState.HEARING:
        return State("Hearing you", behind or when_listening(snapshot), Tone.ACTIVE)
    return State("Ready", behind or when_listening(snapshot), Tone.GOOD)


def server_status(server: ServerView) -> str:
    """One line about where the speech goes."""
    if server.kind is ServerKind.EMBEDDED:
        names = {
            ServerState.READY: "On this computer",
            ServerState.RESTING: "On this computer, resting to free memory",
            ServerState.REFUSED: "The engine cannot start",
            ServerState.LOST: "The engine stopped and is starting again",
        }
        text = names.get(server.state, "The engine on this computer is starting")
    else:
        names = {
            ServerState.READY: "Connected to {host}",
            ServerState.RESTING: "{host} rests until you speak",
            ServerState.REFUSED: "Refused by {host}",
            ServerState.LOST: "Lost {host}, trying again",
            ServerState.LOADING: "{host} is loading its model",
        }
        text = names.get(server.state, "Connecting to {host}").format(host=urlsplit(server.url).netloc or server.url)
    if server.state is ServerState.READY and server.model not in ("", "auto"):
        text += f", model {server.model}"
    return text


def server_problem(server: ServerView) -> str:
    """What is wrong with the server and what to do, or nothing."""
    if server.state not in (ServerState.REFUSED, ServerState.LOST):
        return ""
    return server.detail


def outcome(line: Line) -> str:
    """What became of an utterance, in a word or two; nothing while it is open."""
    words = {
        LineKind.COMMAND: "command",
        LineKind.DICTATED: "typed",
        LineKind.PLAIN: "no command",
        LineKind.ASLEEP: "Sayso is asleep",
        LineKind.ASIDE: "not said to Sayso",
        LineKind.OPEN: "",
    }
    if line.kind is LineKind.MISSED:
        return f"{_length(line.lost_ms)} not heard"
    if line.kind is LineKind.LOST or line.lost_ms:
        lost = f"{_length(line.lost_ms)} of speech lost" if line.lost_ms else "not transcribed"
        kept = words.get(line.kind, "") if line.kind is not LineKind.PLAIN else ""
        return f"{kept}, {lost}" if kept else lost
    if line.kind is LineKind.PLAIN and line.meant:
        return f"no command; did you mean “{line.meant}”?"
    return words[line.kind]


def _length(milliseconds: int) -> str:
    seconds = round(milliseconds / 1000)
    return f"{milliseconds / 1000:.1f} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"


FEED_WORDS = {
    FeedState.HEARD: "Heard",
    FeedState.CONFIRM: "Waiting for your yes",
    FeedState.RUNNING: "Working",
    FeedState.DONE: "Done",
    FeedState.FAILED: "Failed",
    FeedState.REFUSED: "Not done",
    FeedState.UNDONE: "Undone",
}


def feed_words(item: FeedItem) -> str:
    """How an action stands, in a word or two."""
    if item.state is FeedState.CONFIRM and item.yes != "yes":
        return f"Waiting for your “{item.yes}”"
    return FEED_WORDS[item.state]


def feed_sentence(item: FeedItem) -> str:
    """One feed item as a sentence for a screen reader."""
    parts = [f"{item.title}: {feed_words(item).lower()}"]
    if item.detail:
        parts.append(item.detail)
    if item.state is FeedState.CONFIRM:
        parts.append(answer_hint(item))
    if item.heard:
        parts.append(f"heard “{item.heard}”")
    return " ".join(part if part.endswith(("?", "!", ".")) else f"{part}." for part in parts)


def explanation(item: FeedItem) -> str:
    """Why an action was done, a line for each part; nothing where no command was said for it."""
    why = item.why
    if why is None:
        return ""
    if why.intent == DICTATION:
        return "\n".join(["No command, so it is text: dictation is on", *_stages(why)])
    if why.score >= 100:
        match = "exactly a command"
    else:
        match = f"{why.score:.0f} of 100 alike; an error of recognition was assumed"
    lines = [f"Understood: “{why.understood}”, {match}", f"Command: {why.intent}"]
    return "\n".join([*lines, *_stages(why)])


def _stages(why: Why) -> list[str]:
    """How long each stage took, counted from the one before; what was not seen is left out."""
    names = ("speech ended", "words", "decided", "done")
    seen = [
        (name, at)
        for name, at in zip(names, (why.ended_at, why.text_at, why.decided_at, why.done_at), strict=True)
        if at
    ]
    if len(seen) < 2:
        return []
    steps = [f"{name} after {max(0, round((at - before) * 1000))} ms" for (_, before), (name, at) in pairwise(seen)]
    return [f"Time: {seen[0][0]}, {', '.join(steps)}"]


def answer_hint(item: FeedItem) -> str:
    """How the question of an item is answered."""
    return f"Say “{item.yes}” or “no”, or press Ctrl+Y or Ctrl+N"


def examples(mode: Mode) -> tuple[str, ...]:
    """Three things to say first."""
    if mode is Mode.DICTATION:
        return ("Dear all, the meeting moves to Friday.", "scratch that", "stop listening")
    return ("open Firefox", "search for train times", "set the volume to thirty percent")
