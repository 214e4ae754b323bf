"""What leaves the machine and what is kept is told as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sayso.app.history.view import FOREVER, HistoryView
from sayso.app.privacy import kept_on_disk, key_words, session_words, speech_flow
from sayso.app.remote_server_view import KeyPlace
from sayso.app.snapshot import (
    DesktopState,
    FeedItem,
    FeedState,
    Line,
    LineKind,
    MicrophoneState,
    MicrophoneView,
    Mode,
    ServerKind,
    ServerState,
    ServerView,
    Snapshot,
)

NOW = Snapshot(
    DesktopState.LISTENING,
    MicrophoneView(MicrophoneState.READY),
    ServerView(ServerKind.EMBEDDED, ServerState.READY),
    Mode.COMMANDS,
)


def remote(url: str) -> ServerView:
    return ServerView(ServerKind.REMOTE, ServerState.READY, url)


@pytest.mark.parametrize(
    ("server", "said", "worrying"),
    [
        (NOW.server, "Nothing that you say leaves", False),
        (remote("ws://127.0.0.1:8000/v1/realtime"), "a server on this computer", False),
        (remote("wss://speech.example.org/v1/realtime"), "encrypted to speech.example.org", False),
        (remote("ws://192.168.1.20:8000/v1/realtime"), "unencrypted", True),
    ],
)
def test_where_speech_goes(server: ServerView, said: str, worrying: bool) -> None:
    flow = speech_flow(server)
    assert said in flow.text
    assert flow.worrying is worrying


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (HistoryView(), "Off: what you say is not kept."),
        (HistoryView(0, 3, place="/data/history/history.db"), "Off, but 3 utterances from before are kept."),
        (
            HistoryView(1, 1, place="/data/history/history.db"),
            "What you say is kept as text for 1 day: 1 utterance now.",
        ),
        (HistoryView(FOREVER, 9, place="/data/history/history.db"), "until you delete it"),
    ],
)
def test_what_the_history_keeps(history: HistoryView, said: str) -> None:
    kept = {each.name: each for each in kept_on_disk(replace(NOW, history=history))}["History"]
    assert said in kept.text
    assert kept.place == (Path("/data/history") if history.place else None)


def test_what_is_in_no_file_has_no_folder() -> None:
    kept = {each.name: each.place for each in kept_on_disk(NOW)}
    assert kept["Settings"] is not None
    assert (kept["Sound"], kept["Log"]) == (None, None)


def test_where_the_key_is() -> None:
    url = "wss://host:1/v1/realtime"
    assert key_words(url, KeyPlace.KEYRING) == "The key of host:1 is in the system's keyring."
    assert "only you can read" in key_words(url, KeyPlace.FILE)
    assert key_words(url, KeyPlace.NONE) == ""


def test_what_is_in_memory_counts_only_what_is_over() -> None:
    lines = (Line(1, "one", "", LineKind.PLAIN, 0.0), Line(2, "two", "", LineKind.OPEN, 1.0))
    feed = (FeedItem(1, "one", "One", FeedState.DONE), FeedItem(2, "two", "Two", FeedState.RUNNING))
    told = session_words(replace(NOW, lines=lines, feed=feed))
    assert told == "1 line of what you said and 1 action are in memory until Sayso ends."
    assert session_words(replace(NOW, lines=lines[1:], feed=feed[1:])) == ""
