"""What is told in messages of the desktop: over snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest
import scenes

from sayso.app.snapshot import DICTATION, DesktopState, FeedItem, FeedState, Snapshot, Why
from sayso.ui.desktop_message import MessagePolicy

BEFORE = scenes.snapshot(lines=scenes.LINES, feed=scenes.FEED)
WHY = Why("volume.up", "volume up", 100.0)


def told(*snapshots: Snapshot) -> str:
    """What is told when the last of these comes."""
    policy, text = MessagePolicy(), ""
    for snapshot in snapshots:
        text = policy.update(snapshot)
    return text


def doing(state: FeedState, detail: str = "", heard: str = "volume up", why: Why | None = WHY) -> Snapshot:
    item = FeedItem(900, heard, "Turn the volume up", state, detail, why=why)
    return replace(BEFORE, feed=(*BEFORE.feed, item))


def test_what_was_there_before_and_what_goes_on_is_not_told() -> None:
    assert told(BEFORE) == ""
    assert told(BEFORE, BEFORE) == ""
    assert told(BEFORE, replace(BEFORE, microphone=scenes.HEARING)) == ""
    assert told(BEFORE, doing(FeedState.RUNNING)) == ""
    assert told(BEFORE, doing(FeedState.DONE), doing(FeedState.DONE)) == ""


@pytest.mark.parametrize(
    ("state", "detail", "text"),
    [
        (FeedState.DONE, "40 percent", "Turn the volume up: 40 percent"),
        (FeedState.FAILED, "There is no speaker.", "Turn the volume up: There is no speaker."),
        (FeedState.REFUSED, "The text is on the clipboard.", "Turn the volume up: The text is on the clipboard."),
        (FeedState.CONFIRM, "Turn it up?", "Turn it up? Say “yes” or “no”."),
    ],
)
def test_what_is_over_or_asked_is_told_with_its_reason(state: FeedState, detail: str, text: str) -> None:
    assert told(BEFORE, doing(FeedState.RUNNING), doing(state, detail)) == text


def test_an_end_that_came_along_with_the_next_beginning_is_told() -> None:
    later = doing(FeedState.FAILED, "There is no speaker.")
    going_on = replace(later.feed[-1], id=901, state=FeedState.RUNNING)
    snapshot = replace(later, feed=(*later.feed, going_on))
    assert told(BEFORE, doing(FeedState.RUNNING), snapshot) == "Turn the volume up: There is no speaker."


@pytest.mark.parametrize("intent", [DICTATION, "typing.text"])
def test_text_that_was_typed_is_seen_where_it_was_typed(intent: str) -> None:
    assert told(BEFORE, doing(FeedState.DONE, "typed", why=replace(WHY, intent=intent))) == ""
    assert told(BEFORE, doing(FeedState.REFUSED, "on the clipboard", why=replace(WHY, intent=intent))) != ""


def test_a_timer_that_is_over_has_a_message_of_its_own() -> None:
    assert told(BEFORE, doing(FeedState.DONE, heard="", why=None)) == ""


def test_that_listening_begins_or_ends_is_told_but_not_at_the_start_and_the_end() -> None:
    idle = replace(BEFORE, state=DesktopState.IDLE)
    assert told(BEFORE, idle) == "Not listening"
    assert told(idle, BEFORE) == "Listening"
    assert told(BEFORE, replace(BEFORE, asleep=True)) == "Asleep"
    assert told(replace(BEFORE, state=DesktopState.STARTING), BEFORE) == ""
    assert told(BEFORE, replace(BEFORE, state=DesktopState.QUITTING)) == ""
