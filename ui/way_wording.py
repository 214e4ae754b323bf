"""The words for the ways to listen: what to do now, in the way that is in force. No Qt here, only text."""

from __future__ import annotations

from sayso.app.snapshot import Mode, Snapshot
from sayso.app.ways_view import Way


def when_idle(snapshot: Snapshot, shortcut: str) -> str:
    """What opens the microphone; ``shortcut`` does so in the window."""
    ways = snapshot.ways
    if ways.way is not Way.HANDS_FREE and ways.key_works:
        doing = "Hold" if ways.way is Way.HOLD else "Press"
        return f"{doing} {ways.key} and speak, or press Start."
    return f"Press Start or {shortcut} and speak."


def when_asleep(snapshot: Snapshot) -> str:
    """What wakes it."""
    ways = snapshot.ways
    if ways.way is Way.HOLD and ways.key_works:
        return f"Hold {ways.key} and speak to wake it."
    phrase = f" or “{ways.phrase}”" if ways.phrase else ""
    return f"Say “start listening”{phrase} to wake it; until then nothing is done."


def lacks_key(snapshot: Snapshot) -> str:
    """Why holding cannot work and what to do; empty where it can, or another way is in force."""
    ways = snapshot.ways
    if ways.way is not Way.HOLD or ways.key_works or ways.held:
        return ""
    return ways.key_detail or "Choose a key to hold in the settings, on the page Listening."


def when_listening(snapshot: Snapshot) -> str:
    """How to say something, and what becomes of it."""
    ways = snapshot.ways
    if ways.held:
        escape = " Esc drops it." if ways.drops_with_escape else ""
        if not ways.key_works:
            return "Speak. “sayso stop” tells that you have said it."
        return f"Let go of {ways.key} when you have said it.{escape}"
    if ways.way is Way.HOLD:
        return f"Hold {ways.key} and speak."
    if ways.way is Way.HANDS_FREE and ways.asks_phrase and ways.phrase and not ways.attentive:
        return f"Say “{ways.phrase}” and then what to do. Anything else is only shown."
    if snapshot.mode is Mode.DICTATION:
        return "Speak. Your words go into the window in front, or on the clipboard; commands are carried out."
    return "Say a command. Anything else is only shown."
