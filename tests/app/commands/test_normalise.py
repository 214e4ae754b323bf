"""Words are made ready for matching and keep their place in what was heard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.commands.normalise import Rules, normalise

RULES = Rules.read(
    {"start": ["please", "could you", "could you please"], "end": ["please", "for me"], "anywhere": ["um"]},
    {"ctrl": "control", "twice": "2 times", "un mute": "unmute"},
)


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        ("Open Firefox.", "open firefox"),
        ("Could you please, um, open Firefox for me, please?", "open firefox"),
        ("Ctrl+Shift-T", "control shift t"),
        ("Ctrl + T", "control plus t"),
        ("2+3 \u00d7 4", "2 plus 3 times 4"),
        ("ten \u2212 4 - un-mute", "10 minus 4 minus unmute"),
        ("three point five", "3.5"),
        ("twenty five percent", "25 percent"),
        ("50%", "50 percent"),
        ("one hundred and ten", "110"),
        ("press o", "press o"),
        ("the first time", "the first time"),
        ("un mute twice", "unmute 2 times"),
        ("don\u2019t stop", "don't stop"),
        ("example.com/docs", "example.com docs"),
        ("please", "please"),
        ("", ""),
    ],
)
def test_words_are_normalised(heard: str, words: str) -> None:
    assert normalise(heard, RULES).text == words


def test_what_lies_around_words_is_kept_for_typing() -> None:
    heard = "Please type, um, Hello — World, for me."
    utterance = normalise(heard, RULES)
    start = utterance.text.index("hello")

    before, after = utterance.heard_span(start, len(utterance.text))

    assert utterance.text == "type hello world"
    assert heard[before:after] == ", um, Hello — World, for me."


@given(st.text(max_size=80))
def test_every_word_stands_for_a_part_of_what_was_heard_in_order(heard: str) -> None:
    utterance = normalise(heard, RULES)

    places = [(word.start, word.end) for word in utterance.words]
    assert all(0 <= start < end <= len(heard) for start, end in places)
    assert places == sorted(places)
