"""The window moves on at word boundaries: no audio is skipped, no stable word is given twice, it stays short."""

from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.runner.base import SpokenWord
from sayso.engine.runner.window import Window, WindowOptions

S = 16_000
OPTIONS = WindowOptions(longest=14 * S, comfortable=7 * S, keep=2 * S)


def word(text: str, start_s: float, end_s: float, token: int = 0) -> SpokenWord:
    return SpokenWord(f" {text}", int(start_s * S), int(end_s * S), 0.9, (token,))


def test_it_cuts_after_a_sentence_and_keeps_the_words_behind_as_prefix() -> None:
    window = Window(OPTIONS, 0)
    window.commit([word("one", 0, 1, 1), word("two.", 1, 2, 2), word("three", 2.2, 3, 3), word("four", 3, 6, 4)])
    assert window.move(8 * S)
    assert window.start == int(2.1 * S)
    assert window.prefix == (3, 4)


def test_it_stays_while_it_is_short_or_nothing_is_stable() -> None:
    window = Window(OPTIONS, 0)
    assert not window.move(20 * S)
    window.commit([word("one", 0, 1), word("two", 1, 4)])
    assert not window.move(7 * S)
    assert window.start == 0


def test_it_keeps_some_speech_to_go_on_from() -> None:
    window = Window(OPTIONS, 0)
    window.commit([word("one.", 0, 6), word("two", 6.5, 7)])
    assert not window.move(9 * S)


def test_skipping_gives_up_audio_and_keeps_the_stable_words_behind_it() -> None:
    window = Window(OPTIONS, 0)
    window.commit([word("one", 0, 1, 1), word("two", 6, 6.5, 2)])
    window.skip_to(5 * S)
    assert (window.start, window.prefix, window.end(30 * S)) == (5 * S, (2,), 19 * S)


@given(st.lists(st.tuples(st.floats(0.05, 1.5), st.floats(0, 0.5), st.sampled_from(["w", "w.", "w,"])), max_size=200))
def test_it_never_skips_a_word_that_is_not_stable_and_never_keeps_long_of_those_that_are(spoken: list) -> None:
    window, now, said = Window(OPTIONS, 0), 0.0, []
    for token, (length, gap, text) in enumerate(spoken):
        said.append(word(text, now + gap, now + gap + length, token))
        now += gap + length
        window.commit([said[-1]])
        window.move(int(now * S))
        kept = len(window.prefix)
        assert window.prefix == tuple(w.tokens[0] for w in said[len(said) - kept :])
        assert all(w.end <= window.start or w.start < window.start for w in said[: len(said) - kept])
        assert int(now * S) - window.start <= OPTIONS.longest
