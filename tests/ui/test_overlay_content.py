"""When the overlay is there and what it says: over snapshots and time."""

from __future__ import annotations

from dataclasses import replace

import pytest
import scenes

from sayso.app.snapshot import (
    DesktopState,
    FeedItem,
    FeedState,
    LineKind,
    MicrophoneState,
    MicrophoneView,
    Snapshot,
)
from sayso.app.ways_view import Way, WaysView
from sayso.ui.overlay_content import LINGER_S, QUESTION_S, OverlayContent, OverlayPolicy
from sayso.ui.wording import Tone

BEFORE = scenes.snapshot(lines=scenes.LINES, feed=scenes.FEED)
HELD = WaysView(Way.HOLD, "Pause", key_works=True, held=True)


def after(*snapshots: Snapshot) -> OverlayContent | None:
    """What is shown when the last of these comes, at once after the others."""
    policy, content = OverlayPolicy(), None
    for snapshot in snapshots:
        content = policy.update(snapshot, 100.0)
    return content


def saying(text: str, tentative: str = "", **changes: object) -> Snapshot:
    line = scenes.line(9, text, tentative, LineKind.OPEN)
    return replace(BEFORE, **{"microphone": scenes.HEARING, "lines": (*scenes.LINES, line), **changes})


def test_nothing_is_shown_of_what_was_there_before() -> None:
    assert after(BEFORE) is None
    assert after(BEFORE, BEFORE) is None


def test_words_are_shown_while_they_are_said_with_the_level() -> None:
    content = after(BEFORE, saying("type hello", " every one"))
    assert content is not None
    assert (content.stable, content.tentative, content.level_db) == ("type hello", " every one", -17.5)
    assert content.title == "Hearing you"


def test_a_noise_without_words_brings_nothing_up() -> None:
    assert after(BEFORE, saying("")) is None


def test_words_that_are_still_worked_on_stay_when_the_speaker_is_silent() -> None:
    content = after(BEFORE, saying("type hello", microphone=scenes.READY))
    assert content is not None
    assert (content.title, content.level_db) == ("Understanding", None)
    closing = saying("type hello", state=DesktopState.IDLE, microphone=scenes.HEARING)
    content = after(BEFORE, closing)
    assert content is not None
    assert (content.title, content.level_db) == ("Understanding", None)


def test_a_held_key_is_answered_at_once_and_tells_that_the_microphone_opens() -> None:
    opening = MicrophoneView(MicrophoneState.OPENING, "USB headset")
    content = after(BEFORE, replace(BEFORE, ways=HELD, microphone=opening))
    assert content is not None
    assert (content.title, content.tone) == ("Opening microphone", Tone.WAITING)
    content = after(BEFORE, replace(BEFORE, ways=HELD, microphone=scenes.HEARING))
    assert content is not None
    assert content.level_db is not None
    content = after(BEFORE, replace(BEFORE, ways=HELD, microphone=scenes.READY))
    assert content is not None
    assert (content.title, content.drawing) == ("Listening", "microphone")


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (FeedState.RUNNING, "Suspend the computer …"),
        (FeedState.DONE, "Suspend the computer: Why not."),
        (FeedState.CONFIRM, "Why not. Say “yes” or “no”."),
        (FeedState.FAILED, "Suspend the computer: Why not."),
    ],
)
def test_what_is_done_is_told(state: FeedState, title: str) -> None:
    item = FeedItem(9, "suspend the computer", "Suspend the computer", state, "Why not.")
    content = after(BEFORE, replace(BEFORE, feed=(*scenes.FEED, item)))
    assert content is not None
    assert (content.title, content.stable, content.drawing) == (title, "suspend the computer", state.value)


@pytest.mark.parametrize(("state", "lasts_s"), [(FeedState.DONE, LINGER_S), (FeedState.CONFIRM, QUESTION_S)])
def test_what_is_over_can_be_read_for_a_while_and_a_question_longer(state: FeedState, lasts_s: float) -> None:
    policy = OverlayPolicy()
    policy.update(BEFORE, 100.0)
    done = replace(BEFORE, feed=(*scenes.FEED, FeedItem(9, "suspend the computer", "Suspend the computer", state)))
    assert policy.update(done, 101.0) is not None
    assert policy.until_s == 101.0 + lasts_s
    assert policy.update(done, 101.0 + lasts_s - 0.1) is not None
    assert policy.update(done, 101.0 + lasts_s) is None
    assert policy.until_s is None


def test_a_question_tells_what_has_to_be_said() -> None:
    item = FeedItem(9, "log out", "Log out", FeedState.CONFIRM, "Log out?", yes="yes, log out")
    assert shown_for(item) == ("Log out? Say “yes, log out” or “no”.", QUESTION_S)


def shown_for(item: FeedItem) -> tuple[str, float]:
    """What is told of an action that comes at 100 s, and for how long."""
    policy = OverlayPolicy()
    policy.update(BEFORE, 100.0)
    content = policy.update(replace(BEFORE, feed=(*scenes.FEED, item)), 100.0)
    assert content is not None
    assert policy.until_s is not None
    return content.title, policy.until_s - 100.0


def test_an_answer_is_told_and_the_longer_it_is_the_longer_it_can_be_read() -> None:
    done = FeedState.DONE
    assert shown_for(FeedItem(9, "mute", "Mute the sound", done))[0] == "Mute the sound: done"
    title, short_s = shown_for(FeedItem(9, "what time is it", "Tell the time", done, "It is 11:32"))
    assert title == "Tell the time: It is 11:32"
    _, long_s = shown_for(FeedItem(9, "take a screenshot", "Take a screenshot", done, "saved as " + "a/long/path/" * 6))
    _, longest_s = shown_for(
        FeedItem(9, "take a screenshot", "Take a screenshot", done, "saved as " + "a/long/path/" * 99)
    )
    assert LINGER_S <= short_s < long_s < longest_s < QUESTION_S


def test_a_timer_that_is_over_is_told_as_long_as_a_question() -> None:
    item = FeedItem(9, "", "The timer of 5 minutes is over", FeedState.DONE)
    assert shown_for(item) == ("The timer of 5 minutes is over", QUESTION_S)


def test_what_is_no_command_and_what_was_typed_is_told() -> None:
    content = after(BEFORE, replace(BEFORE, lines=(*scenes.LINES, scenes.line(9, "I told her that"))))
    assert content is not None
    assert (content.title, content.stable) == ("No command", "I told her that")
    typed = scenes.line(9, "Dear all", kind=LineKind.DICTATED)
    content = after(BEFORE, replace(BEFORE, lines=(*scenes.LINES, typed)))
    assert content is not None
    assert content.title == "Typed"


def test_that_listening_ends_or_begins_is_told() -> None:
    stopped = replace(BEFORE, state=DesktopState.IDLE, microphone=MicrophoneView(MicrophoneState.CLOSED))
    content = after(BEFORE, stopped)
    assert content is not None
    assert (content.title, content.drawing) == ("Not listening", "microphone-off")
    content = after(stopped, BEFORE)
    assert content is not None
    assert content.drawing == "microphone"
    content = after(BEFORE, replace(BEFORE, asleep=True))
    assert content is not None
    assert (content.title, content.drawing) == ("Asleep", "microphone-off")


@pytest.mark.parametrize("kind", [LineKind.ASIDE, LineKind.ASLEEP])
def test_what_is_not_said_to_sayso_brings_nothing_up(kind: LineKind) -> None:
    ways = WaysView(phrase="hey sayso", asks_phrase=True)
    asleep = kind is LineKind.ASLEEP
    before = replace(BEFORE, ways=ways, asleep=asleep)
    assert after(before, saying("we should leave", " early", ways=ways, asleep=asleep)) is None
    assert after(before, replace(before, lines=(*scenes.LINES, scenes.line(9, "so what", kind=kind)))) is None
    assert after(before, saying("Hey say so, volume", ways=ways, asleep=asleep)) is not None
    if not asleep:
        attentive = replace(ways, attentive=True)
        assert after(before, saying("volume up", ways=attentive)) is not None
