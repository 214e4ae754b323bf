"""What becomes stable, and what a decoder's text is not believed to be."""

from sayso.engine.runner.base import SpokenWord
from sayso.engine.runner.stability import agreement, overlap, sayable, settled, showable

S = 16_000


def words(text: str, start_s: float = 0.0, each_s: float = 0.3, probability: float = 0.9) -> list[SpokenWord]:
    """The words of a text, one after the other."""
    return [
        SpokenWord(f" {w}", int((start_s + i * each_s) * S), int((start_s + (i + 1) * each_s) * S), probability)
        for i, w in enumerate(text.split())
    ]


def test_words_that_two_hypotheses_share_are_stable_but_not_the_last() -> None:
    assert settled(words("it was the"), words("it was the best of"), 10 * S) == 3
    assert settled(words("it was the best"), words("it was the best"), 10 * S) == 3


def test_case_and_marks_do_not_matter_for_agreement() -> None:
    assert agreement(words("Times. It was"), words("times, it was")) == 3
    assert agreement(words("one two"), words("one too")) == 1


def test_nothing_is_stable_after_one_hypothesis() -> None:
    assert settled([], words("open the door"), 10 * S) == 0
    assert settled(words("open"), [], 10 * S) == 0


def test_a_word_that_ends_near_the_end_of_the_audio_is_not_stable() -> None:
    said = words("it was the best")
    assert settled(said, said, int(0.65 * S)) == 2


def test_a_word_is_stable_only_when_another_was_said_later() -> None:
    said = words("it was")
    crowded = [*said, SpokenWord(" was", said[1].start, said[1].end, 0.9), SpokenWord(" it", 0, S // 10, 0.9)]
    assert settled(crowded, crowded, 10 * S) == 1


def test_words_without_length_do_not_hold_up_those_before_them() -> None:
    said = words("of foolishness. it was", each_s=0.4)
    flat = SpokenWord(" it", said[1].end, said[1].end, 0.9)
    hypothesis = [*said[:2], flat, said[3]]
    assert settled(hypothesis, hypothesis, 10 * S) == 3


def test_a_hypothesis_that_says_the_stable_words_again_is_cut() -> None:
    said = words("it was the best of times")
    assert overlap(said, words("best of times it was")) == 3
    assert overlap(said, words("it was the worst")) == 0
    assert overlap(words("no"), words("no no")) == 0


def test_no_more_words_are_believed_than_can_be_said_in_the_time() -> None:
    crowd = words("it was the age of foolishness it was the age of foolishness")
    assert sayable(crowd, 0, S // 2) <= 6
    assert sayable(words("it was the best of times"), 0, int(1.2 * S)) == 6


def test_words_crowded_at_the_end_of_long_audio_are_not_believed() -> None:
    said = words("it was the age of wisdom")
    crowd = words("it was the age of foolishness", start_s=said[-1].end / S, each_s=0.02)
    assert 6 <= sayable([*said, *crowd], 0, crowd[-1].end) <= 9


def test_a_last_word_at_the_very_end_is_shown_only_when_it_is_sure() -> None:
    end = int(0.6 * S)
    assert showable(words("open tor", probability=0.5), end, S // 10, 0.8) == 1
    assert showable(words("open tor", probability=0.9), end, S // 10, 0.8) == 2
    assert showable(words("open tor", probability=0.5), end + S, S // 10, 0.8) == 2
    assert showable([], end, S // 10, 0.8) == 0
