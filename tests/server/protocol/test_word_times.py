"""Where a replay may begin; that texts then join is in the tests of both ends."""

from __future__ import annotations

from sayso.server.protocol.word_times import TimedWord, WordTimes

SECOND = 16_000


def times(*seconds: float) -> WordTimes:
    """A word of half a second at each of these."""
    made = WordTimes()
    made.add(TimedWord("word", round(at * SECOND), round((at + 0.5) * SECOND)) for at in seconds)
    return made


def test_it_begins_some_seconds_before_what_is_settled_in_the_longest_pause() -> None:
    words = times(0, 0.6, 1.2, 2.6, 3.2, 3.8, 4.4)
    start = words.settle(5 * SECOND)
    assert start == round(2.5 * SECOND)
    assert len(words) == 4


def test_without_a_word_that_is_old_enough_all_is_kept() -> None:
    words = times(0, 0.6, 1.2)
    assert words.settle(round(1.7 * SECOND)) is None
    assert len(words) == 3


def test_after_a_long_silence_nothing_of_what_was_said_is_needed() -> None:
    words = times(0, 0.6, 1.2)
    start = words.settle(20 * SECOND)
    assert start is not None
    assert 19 * SECOND < start < 20 * SECOND
    assert not words
