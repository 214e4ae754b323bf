"""What a Sayso server's word about its engine means for the connection, in words for people. Pure."""

from __future__ import annotations

from sayso.app.realtime.events import Connection
from sayso.app.snapshot import ServerState
from sayso.server.protocol.events import EngineState

ANY_MODEL = "auto"
"""How a Sayso server's own model is called, whichever it is."""

_WORDS: dict[str, tuple[ServerState, str]] = {
    "starting": (ServerState.LOADING, "The speech engine is starting."),
    "loading": (ServerState.LOADING, "The speech engine is loading its model."),
    "idle": (ServerState.RESTING, "The speech engine rests to free memory; it starts when you speak."),
    "restarting": (ServerState.LOADING, "The speech engine has stopped and is being started again."),
    "failed": (ServerState.REFUSED, "The speech engine cannot start."),
    "ready": (ServerState.READY, ""),
}


def told_by_engine(event: EngineState, url: str, asked: str) -> Connection:
    """The connection to ``url`` as it is with this news; ``asked`` is the model that the session has asked for."""
    state, words = _WORDS[event.state]
    model = event.model or (asked if asked != ANY_MODEL else "")
    return Connection(state, url, model, event.detail or words, "" if event.state == "ready" else event.state)
