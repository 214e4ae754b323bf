"""What holding a key does, as steps over events and time."""

from __future__ import annotations

from sayso.app.clocks import Moment
from sayso.app.hold_to_talk import CLOSING_S, LONGEST_S, HoldToTalk, Step


def at(seconds: float, slept: float = 0.0) -> Moment:
    return Moment(100.0 + seconds, 5000.0 + seconds + slept)


def test_what_is_said_while_the_key_is_held_is_taken() -> None:
    hold = HoldToTalk()
    assert hold.press(at(0), listening=True) == [Step.BEGIN]
    assert hold.held
    assert hold.tick(at(5)) == []
    assert hold.release(at(6)) == [Step.END]
    assert not hold.held
    assert hold.utterance_ended() == []
    assert hold.idle
    assert hold.warning == ""


def test_a_closed_microphone_is_opened_and_closed_again_when_the_utterance_is_whole() -> None:
    hold = HoldToTalk()
    assert hold.press(at(0), listening=False) == [Step.OPEN, Step.BEGIN]
    assert hold.release(at(3)) == [Step.END]
    assert hold.tick(at(3.2)) == []
    assert hold.utterance_ended() == [Step.CLOSE]
    assert hold.idle


def test_a_microphone_that_never_opened_is_closed_all_the_same() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=False)
    hold.release(at(1))
    assert hold.tick(at(1 + CLOSING_S)) == [Step.CLOSE]
    assert hold.idle


def test_holding_again_before_the_microphone_closed_keeps_it_open_and_closes_it_afterwards() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=False)
    hold.release(at(1))
    assert hold.press(at(1.1), listening=True) == [Step.BEGIN]
    assert hold.utterance_ended() == []
    assert hold.release(at(2)) == [Step.END]
    assert hold.utterance_ended() == [Step.CLOSE]


def test_an_utterance_that_is_cut_while_the_key_is_held_changes_nothing() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=False)
    assert hold.utterance_ended() == []
    assert hold.held


def test_a_stuck_key_ends_what_is_taken_and_begins_nothing_until_it_went_up() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=True)
    assert hold.tick(at(LONGEST_S - 1)) == []
    assert hold.tick(at(LONGEST_S)) == [Step.END]
    assert "stuck" in hold.warning
    assert hold.press(at(LONGEST_S + 1), listening=True) == []
    assert hold.release(at(LONGEST_S + 2)) == []
    assert hold.press(at(LONGEST_S + 3), listening=True) == [Step.BEGIN]
    assert hold.warning == ""


def test_a_release_that_was_not_seen_is_told() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=True)
    assert hold.release(at(5), seen=False) == [Step.END]
    assert "unseen" in hold.warning


def test_a_computer_that_slept_meanwhile_is_told_whether_the_key_is_still_down_or_not() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=True)
    assert hold.tick(at(1, slept=3600)) == [Step.END]
    assert "slept" in hold.warning
    hold.release(at(2, slept=3600))
    hold.press(at(3, slept=3600), listening=True)
    assert hold.release(at(4, slept=7200), seen=False) == [Step.END]
    assert "slept" in hold.warning


def test_escape_drops_what_is_said_until_the_key_went_up() -> None:
    hold = HoldToTalk()
    hold.press(at(0), listening=True)
    assert hold.escape(at(1)) == [Step.DROP, Step.END]
    assert not hold.held
    assert hold.escape(at(2)) == []
    assert hold.release(at(3)) == []
    assert hold.press(at(4), listening=True) == [Step.BEGIN]


def test_going_up_without_having_been_down_is_nothing() -> None:
    assert HoldToTalk().release(at(0)) == []
