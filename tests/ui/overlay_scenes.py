"""Realistic states of the overlay, used by ``screenshots.py``: what was before, and what brings it up."""

from __future__ import annotations

from dataclasses import replace

import scenes

from sayso.app.snapshot import FeedItem, FeedState, LineKind, MicrophoneState, MicrophoneView, Snapshot
from sayso.app.ways_view import Way, WaysView

BEFORE = scenes.snapshot(lines=scenes.LINES, feed=scenes.FEED)
HELD = WaysView(Way.HOLD, "Ctrl+Alt+Space", key_works=True, held=True)


def _said(stable: str, tentative: str = "") -> Snapshot:
    line = scenes.line(9, stable, tentative, LineKind.OPEN)
    return replace(BEFORE, microphone=scenes.HEARING, lines=(*scenes.LINES, line))


def _acted(state: FeedState, detail: str = "") -> Snapshot:
    return replace(BEFORE, feed=(*scenes.FEED, FeedItem(9, "suspend", "Suspend the computer", state, detail)))


ALL: dict[str, Snapshot] = {
    "overlay-hearing": _said("type hello everyone the meeting", " moves to Friday at"),
    "overlay-long": _said(scenes.LONG, " " + scenes.LONG[:40]),
    "overlay-held": replace(BEFORE, microphone=scenes.HEARING, ways=HELD),
    "overlay-opening": replace(BEFORE, microphone=MicrophoneView(MicrophoneState.OPENING, "USB headset"), ways=HELD),
    "overlay-running": _acted(FeedState.RUNNING),
    "overlay-question": _acted(FeedState.CONFIRM, "Suspend the computer?"),
    "overlay-done": _acted(FeedState.DONE),
    "overlay-failed": _acted(FeedState.FAILED, "The window “notes.txt” asks to save first. Answer it and try again."),
    "overlay-no-command": replace(BEFORE, lines=(*scenes.LINES, scenes.line(9, "I told her that"))),
    "overlay-stopped": scenes.idle(),
}
