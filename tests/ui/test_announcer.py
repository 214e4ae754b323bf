from __future__ import annotations

from dataclasses import replace

import scenes

from sayso.app.snapshot import FeedState, LineKind, Notice
from sayso.ui.announcer import announcements


def test_the_first_snapshot_tells_the_state_and_nothing_of_the_past() -> None:
    assert announcements(None, scenes.idle()) == ("Not listening",)


def test_growing_words_are_not_read_out_and_a_finished_utterance_is_once() -> None:
    opened = scenes.snapshot(lines=(scenes.line(1, "open", " Fire", LineKind.OPEN),))
    grown = scenes.snapshot(lines=(scenes.line(1, "open Firefox", "", LineKind.OPEN),))
    done = scenes.snapshot(lines=(scenes.line(1, "open Firefox", "", LineKind.COMMAND),))
    assert announcements(opened, grown) == ()
    assert announcements(grown, done) == ("open Firefox, command",)
    assert announcements(done, replace(done, behind_ms=5)) == ()


def test_a_change_of_state_is_told_but_not_the_pulse_of_speaking() -> None:
    ready, hearing = scenes.snapshot(), scenes.snapshot(microphone=scenes.HEARING)
    assert announcements(ready, hearing) == ()
    assert announcements(hearing, ready) == ()
    assert announcements(ready, scenes.no_microphone()) == ("No microphone",)


def test_the_end_of_an_action_is_told_and_its_start_is_not() -> None:
    item = scenes.FEED[0]
    running = scenes.snapshot(feed=(replace(item, state=FeedState.RUNNING),))
    done = scenes.snapshot(feed=(item,))
    assert announcements(scenes.snapshot(), running) == ()
    (said,) = announcements(running, done)
    assert said.startswith("Open Firefox: done")


def test_a_notice_is_told_once_and_first() -> None:
    notice = Notice("keyring", "There is no keyring.")
    before, after = scenes.snapshot(), scenes.snapshot(notices=(notice,), microphone=scenes.no_signal().microphone)
    assert announcements(before, after) == ("There is no keyring.", "No signal")
    assert announcements(after, after) == ()


def test_lines_that_leave_the_snapshot_are_not_told_again() -> None:
    lines = tuple(scenes.line(number, f"sentence {number}") for number in range(30))
    assert announcements(scenes.snapshot(lines=lines), scenes.snapshot(lines=lines[:-3])) == ()


def test_a_question_is_read_out_with_the_ways_to_answer() -> None:
    asked = scenes.question()
    before = replace(asked, feed=asked.feed[:-1])
    (said,) = announcements(before, asked)
    assert "Suspend the computer?" in said
    assert "Say “yes” or “no”" in said
