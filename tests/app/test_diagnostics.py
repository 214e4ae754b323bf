from __future__ import annotations

from sayso.app.diagnostics import licence, report, version
from sayso.app.snapshot import (
    DesktopState,
    FeedItem,
    FeedState,
    Line,
    LineKind,
    MicrophoneState,
    MicrophoneView,
    Mode,
    Notice,
    ServerKind,
    ServerState,
    ServerView,
    Snapshot,
)


def test_the_report_tells_the_state_and_nothing_that_is_private() -> None:
    snapshot = Snapshot(
        DesktopState.LISTENING,
        MicrophoneView(MicrophoneState.READY, "Headset of Ada"),
        ServerView(ServerKind.REMOTE, ServerState.LOST, "wss://speech.secret.example/v1/realtime", "tiny.en", "SECRET"),
        Mode.DICTATION,
        (Line(1, "SECRET", "SECRET", LineKind.PLAIN, 0.0),),
        (FeedItem(1, "SECRET", "SECRET", FeedState.DONE, "SECRET"),),
        (Notice("keyring", "SECRET"),),
    )
    text = report(snapshot, {"XDG_SESSION_TYPE": "wayland", "SAYSO_API_KEY": "SECRET"}, "Qt 6 on xcb")
    for fact in (f"Sayso: {version()}", "wayland", "Server: remote, lost, model tiny.en", "Notices: keyring", "Qt 6"):
        assert fact in text
    for private in ("secret", "Ada"):
        assert private not in text.replace("SECRET", "secret")


def test_of_a_model_in_a_folder_only_its_own_name_is_told() -> None:
    told = {}
    for model in ("/home/ada/models/whisper", "openai/whisper-small", ""):
        server = ServerView(ServerKind.REMOTE, ServerState.READY, "ws://host/v1/realtime", model)
        snapshot = Snapshot(DesktopState.LISTENING, MicrophoneView(MicrophoneState.READY), server, Mode.COMMANDS)
        told[model] = report(snapshot, {}, "").partition("model ")[2].partition("\n")[0]
    assert list(told.values()) == ["whisper", "openai/whisper-small", "unknown"]


def test_the_licence_is_told() -> None:
    assert licence() == "Apache-2.0"
