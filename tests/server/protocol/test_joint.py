"""The shown text of a turn that is heard more than once."""

from __future__ import annotations

from sayso.server.protocol.joint import Joint
from sayso.server.protocol.word_times import TimedWord

SECOND = 16_000


def timed(text: str, at_s: float) -> TimedWord:
    return TimedWord(text, round(at_s * SECOND), round((at_s + 0.4) * SECOND))


def said(joint: Joint, at_s: float, *texts: str) -> str:
    """Words two a second, each with its time; what was shown for them."""
    first = not joint.text
    pieces = [text if first and not n else f" {text}" for n, text in enumerate(texts)]
    return "".join(joint.hear(piece, [timed(piece, at_s + n / 2)]).piece for n, piece in enumerate(pieces))


def test_the_first_hearing_is_shown_as_it_comes_with_its_times() -> None:
    joint = Joint()
    shown = joint.hear(" one two", [timed(" one", 0), timed(" two", 1)])
    assert (shown.piece, [word.text for word in shown.words]) == ("one two", ["one", "two"])
    assert Joint(spaced=True).hear(" one").piece == " one"


def test_times_that_come_behind_their_words_are_given_for_those_that_are_shown() -> None:
    joint = Joint()
    assert joint.hear("one two").words == ()
    assert [word.text for word in joint.time([timed("one", 0), timed(" two", 1)])] == ["one", "two"]


def test_where_times_are_missing_for_some_words_only_the_words_are_compared() -> None:
    joint = Joint()
    said(joint, 0, "one", "two", "three", "four")
    joint.hear(" five six seven")
    joint.hear_again()
    assert not joint.wants_times
    said(joint, 0, "one", "two", "three", "four", "five", "six", "seven", "eight")
    assert joint.finish().piece == " eight"


def test_in_a_pause_behind_what_is_shown_the_joint_is_decided_and_not_before() -> None:
    joint = Joint()
    said(joint, 0, "one", "two", "three", "four")
    joint.settle(2 * SECOND, 0)
    joint.hear_again()
    assert joint.wants_times
    said(joint, 0, "one", "two")
    assert joint.quiet(SECOND).piece == ""
    said(joint, 1, "three", "four", "five")
    assert not joint.is_decided
    assert joint.preview(" and") == " five and"
    assert joint.quiet(4 * SECOND).piece == " five"
    assert joint.is_decided


def test_text_that_is_settled_is_not_looked_for_again() -> None:
    joint = Joint()
    said(joint, 0, *("word " * 20).split())
    start = joint.settle(10 * SECOND, 0)
    assert start is not None
    assert 3 * SECOND < start < 9 * SECOND
    joint.hear_again()
    said(joint, start / SECOND + 0.1, *("word " * 30).split())
    joint.finish()
    assert len(joint.text.split()) == 20 + 30 - round((10 * SECOND - start) / SECOND * 2)
    joint.close()
    joint.hear_again()
    assert joint.is_decided


def test_what_is_lost_at_the_start_is_not_looked_for() -> None:
    joint = Joint()
    said(joint, 0, "one", "two", "three", "four", "five")
    joint.settle(round(2.5 * SECOND), 0)
    joint.lose(round(1.6 * SECOND))
    joint.hear_again()
    said(joint, 1.5, "four", "five", "six", "seven")
    assert joint.finish().piece == " six seven"
