"""What leaves this machine, and what is kept on it and where, in words for people. Pure, but for names of folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from sayso.app.history.view import FOREVER, OFF, HistoryView
from sayso.app.realtime.endpoint import Endpoint
from sayso.app.remote_server_view import KeyPlace
from sayso.app.settings import folder
from sayso.app.snapshot import FeedState, LineKind, ServerKind, ServerView, Snapshot


@dataclass(frozen=True, slots=True)
class Flow:
    """Where what is said goes; ``worrying`` where others on the way could listen in."""

    text: str
    worrying: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """One kind of thing that is kept; ``place`` is its folder, None for what is in no file."""

    name: str
    text: str
    place: Path | None = None


def speech_flow(server: ServerView) -> Flow:
    """Where speech goes with the server in use."""
    if server.kind is ServerKind.EMBEDDED:
        return Flow("Nothing that you say leaves this computer: it becomes text here.")
    endpoint = Endpoint(ServerKind.REMOTE, server.url)
    where = urlsplit(server.url).netloc
    if endpoint.is_loopback:
        return Flow(f"While you speak, your speech goes to {where}, a server on this computer.")
    told = "Silence stays here. A Sayso server is also told which commands to expect."
    if server.url.startswith("wss:"):
        return Flow(f"While you speak, your speech goes encrypted to {where}. {told}")
    return Flow(
        f"While you speak, your speech goes to {where}, unencrypted: others on the way can hear it. {told}", True
    )


def kept_on_disk(snapshot: Snapshot) -> tuple[Kept, ...]:
    """What is in files of the user, and what is in none."""
    return (
        Kept("Settings", "What you have chosen here. No key and nothing that you said is in them.", folder()),
        _history(snapshot.history),
        Kept("Cache", "Measured speeds and other things that can be found out again.", _cache()),
        Kept("Sound", "None. It is in memory until it has become text."),
        Kept("Log", "No file. Messages about faults go to what started Sayso, without speech, typed text or keys."),
    )


def _cache() -> Path:
    return platformdirs.user_cache_path("sayso", appauthor=False)


def _history(history: HistoryView) -> Kept:
    if history.days == OFF and not history.total:
        return Kept("History", "Off: what you say is not kept.")
    count = f"{history.total} {'utterance' if history.total == 1 else 'utterances'}"
    place = Path(history.place).parent if history.place else None
    if history.days == OFF:
        return Kept("History", f"Off, but {count} from before are kept.", place)
    days = f"{history.days} {'day' if history.days == 1 else 'days'}"
    term = "until you delete it" if history.days >= FOREVER else f"for {days}"
    return Kept("History", f"What you say is kept as text {term}: {count} now.", place)


def key_words(url: str, place: KeyPlace) -> str:
    """Where the key of a remote server is; empty where there is none."""
    where = urlsplit(url).netloc
    if place is KeyPlace.KEYRING:
        return f"The key of {where} is in the system's keyring."
    if place is KeyPlace.FILE:
        return f"The key of {where} is in a file beside the settings that only you can read."
    return ""


def session_words(snapshot: Snapshot) -> str:
    """What of this session is in memory and can be forgotten; empty where nothing is."""
    lines = sum(line.kind is not LineKind.OPEN for line in snapshot.lines)
    going_on = (FeedState.HEARD, FeedState.CONFIRM, FeedState.RUNNING)
    actions = sum(item.state not in going_on for item in snapshot.feed)
    if not lines and not actions:
        return ""
    parts = (f"{lines} {'line' if lines == 1 else 'lines'}", f"{actions} {'action' if actions == 1 else 'actions'}")
    return f"{parts[0]} of what you said and {parts[1]} are in memory until Sayso ends."
