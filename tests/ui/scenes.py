"""Realistic snapshots of the desktop, used by the tests of the window and by ``screenshots.py``."""

from __future__ import annotations

from dataclasses import replace

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
    Why,
)

START = 1_780_000_000.0
EMBEDDED = ServerView(ServerKind.EMBEDDED, ServerState.READY, model="tiny.en")
REMOTE = ServerView(ServerKind.REMOTE, ServerState.READY, "ws://192.168.1.20:8000/v1/realtime", "tiny.en")
READY = MicrophoneView(MicrophoneState.READY, "Built-in Audio Analog Stereo", level_db=-52.0)
HEARING = MicrophoneView(MicrophoneState.HEARING, "Built-in Audio Analog Stereo", level_db=-17.5)

LONG = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it "
    "was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of "
    "darkness, it was the spring of hope, it was the winter of despair."
)


def snapshot(**changes: object) -> Snapshot:
    values: dict[str, object] = {
        "state": DesktopState.LISTENING,
        "microphone": READY,
        "server": EMBEDDED,
        "mode": Mode.COMMANDS,
    }
    return Snapshot(**{**values, **changes})  # type: ignore[arg-type]


def line(number: int, stable: str, tentative: str = "", kind: LineKind = LineKind.PLAIN, lost_ms: int = 0) -> Line:
    return Line(number, stable, tentative, kind, START + 23 * number, lost_ms)


LINES = (
    line(1, "open Firefox", kind=LineKind.COMMAND),
    replace(line(2, "turn the volume around"), id=30, meant="turn the volume up"),
    line(2, "search for train times to Hamburg", kind=LineKind.COMMAND),
    line(3, "I think we should leave a little earlier this time."),
    line(4, "set the volume to thirty percent", kind=LineKind.COMMAND),
    line(5, "close the window", kind=LineKind.COMMAND),
)
WHY = Why(
    "volume.set", "set the volume to 30 percent", 100.0, START + 92, START + 92.31, START + 92.314, START + 92.402
)
FEED = (
    FeedItem(1, "open Firefox", "Open Firefox", FeedState.DONE, "Firefox is open"),
    FeedItem(2, "search for train times to Hamburg", "Search for “train times to Hamburg”", FeedState.DONE),
    FeedItem(3, "set the volume to thirty percent", "Set the volume to 30 %", FeedState.DONE, "It was 65 %", True, WHY),
    FeedItem(
        4,
        "close the window",
        "Close the window",
        FeedState.FAILED,
        "The window “notes.txt” asks to save first. Answer it, then say it again.",
    ),
)


def empty() -> Snapshot:
    return snapshot()


def listening() -> Snapshot:
    open_line = line(6, "type hello everyone the meeting", " moves to Friday at", LineKind.OPEN)
    running = FeedItem(5, "play music", "Play music", FeedState.RUNNING)
    return snapshot(microphone=HEARING, lines=(*LINES, open_line), feed=(*FEED, running))


def starting() -> Snapshot:
    server = ServerView(ServerKind.EMBEDDED, ServerState.LOADING, model="tiny.en")
    return snapshot(microphone=HEARING, server=server, lines=(line(1, "", "", LineKind.OPEN),))


def idle() -> Snapshot:
    return snapshot(
        state=DesktopState.IDLE,
        microphone=MicrophoneView(MicrophoneState.CLOSED),
        lines=LINES,
        feed=FEED,
    )


def long_text() -> Snapshot:
    lines = (
        *LINES,
        line(6, LONG, kind=LineKind.DICTATED),
        line(7, "", kind=LineKind.LOST, lost_ms=3400),
        line(8, "https://example.org/" + "a-very-long-path/" * 12),
        line(9, LONG, " " + LONG[:120], LineKind.OPEN),
    )
    return snapshot(mode=Mode.DICTATION, microphone=HEARING, lines=lines, feed=FEED, behind_ms=2400)


def many_actions() -> Snapshot:
    states = tuple(FeedState)
    items = tuple(
        FeedItem(
            number,
            "open the settings of the application",
            f"Open application number {number}",
            states[number % len(states)],
            "A longer explanation of what came of it and why" if number % 3 == 0 else "",
            states[number % len(states)] is FeedState.DONE,
        )
        for number in range(1, 30)
    )
    return snapshot(lines=LINES, feed=items)


def no_microphone() -> Snapshot:
    missing = MicrophoneView(
        MicrophoneState.MISSING,
        detail="No microphone was found. Connect one or switch it on in the sound settings; listening then goes on.",
    )
    return snapshot(microphone=missing)


def microphone_taken() -> Snapshot:
    unusable = MicrophoneView(
        MicrophoneState.UNUSABLE,
        "USB headset",
        "“USB headset” is open and gives no sound: another program may have taken it, or the sound system hangs."
        " Listening goes on as soon as it gives some.",
    )
    lines = (
        *LINES,
        line(6, "and then we", kind=LineKind.PLAIN, lost_ms=2600),
        line(7, "", "", LineKind.MISSED, 83_000),
    )
    return snapshot(microphone=unusable, lines=lines, feed=FEED)


def no_signal() -> Snapshot:
    return snapshot(microphone=MicrophoneView(MicrophoneState.NO_SIGNAL, "USB headset"), lines=LINES, feed=FEED)


def troubles() -> Snapshot:
    server = ServerView(
        ServerKind.REMOTE,
        ServerState.REFUSED,
        "wss://speech.example.org/v1/realtime",
        detail="speech.example.org does not accept this key. Type it again, or ask whoever runs the server for one.",
    )
    notices = (
        Notice("keyring", "This system has no keyring: keys are kept in a file that only you can read."),
        Notice(
            "actions",
            "Key presses need an X11 session; in this one commands that press keys say so and do nothing.",
            severe=True,
        ),
    )
    return snapshot(server=server, lines=LINES, feed=FEED, notices=notices)


def reconnecting() -> Snapshot:
    server = ServerView(ServerKind.REMOTE, ServerState.LOST, REMOTE.url, "tiny.en")
    open_line = line(6, "and then we", " go home", LineKind.OPEN)
    return snapshot(
        state=DesktopState.RECONNECTING, microphone=HEARING, server=server, lines=(*LINES, open_line), feed=FEED
    )


def hot() -> Snapshot:
    loud = MicrophoneView(MicrophoneState.HEARING, "USB headset", level_db=-0.4, clipping=True)
    return snapshot(microphone=loud, lines=LINES, feed=FEED, server=REMOTE)


def question() -> Snapshot:
    why = Why("power.suspend", "suspend the computer", 91.0, START + 92, START + 92.31, START + 92.314)
    asked = FeedItem(
        5, "Suspend the computers.", "Suspend the computer", FeedState.CONFIRM, "Suspend the computer?", why=why
    )
    return snapshot(
        lines=(
            *LINES,
            line(6, "Suspend the computers.", kind=LineKind.COMMAND),
            line(7, "Volume up.", kind=LineKind.ASLEEP),
        ),
        feed=(*FEED, asked),
    )


ALL = {
    "question": question,
    "empty": empty,
    "listening": listening,
    "starting": starting,
    "idle": idle,
    "long-text": long_text,
    "many-actions": many_actions,
    "no-microphone": no_microphone,
    "microphone-taken": microphone_taken,
    "no-signal": no_signal,
    "troubles": troubles,
    "reconnecting": reconnecting,
    "too-loud": hot,
}
