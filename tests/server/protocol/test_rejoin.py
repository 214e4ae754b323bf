"""Text of replayed audio goes on behind what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.protocol.rejoin import Rejoin


def replay(shown: str, heard: str, hole: bool = False) -> str:
    rejoin = Rejoin(shown, hole)
    return "".join(rejoin.feed(piece) for piece in _pieces(heard)) + rejoin.finish()


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if index == 0 else f" {word}" for index, word in enumerate(words)]


@pytest.mark.parametrize(
    ("shown", "heard", "new"),
    [
        ("", "Ever tried.", "Ever tried."),
        ("Ever tried.", "Ever tried. Ever failed.", " Ever failed."),
        ("Ever tried.", "ever tried, ever failed", " ever failed"),
        ("Ever tried. Ever", "Ever tried. Ever failed. No matter.", " failed. No matter."),
        ("no no", "no no no no no", " no no no"),
        ("we had everything", "we have everything before us", " before us"),
        ("we had everything", "had everything before us now", " before us now"),
        ("Ever tried.", "Ever tried.", ""),
        ("Ever tried. Ever failed.", "Ever tried.", ""),
        ("over dried over sailed", "Ever tried. Ever failed. No matter.", "Ever tried. Ever failed. No matter."),
        ("we had him", "we had Tim before us now", " before us now"),
    ],
)
def test_only_what_is_new_comes_through(shown: str, heard: str, new: str) -> None:
    assert replay(shown, heard) == new


def test_the_start_of_the_shown_text_may_be_missing_when_its_audio_is_lost() -> None:
    assert replay("one two three four five", "four five six seven", hole=True) == " six seven"


@given(st.lists(st.sampled_from(["no", "yes", "go", "Stop.", "left"]), max_size=8), st.integers(0, 8))
def test_the_same_words_heard_again_are_never_doubled_or_missing(words: list[str], count: int) -> None:
    heard = " ".join(words)
    shown = " ".join(words[:count])
    assert (shown + replay(shown, heard)).split() == words


def test_tentative_text_is_cut_in_the_same_way_without_deciding() -> None:
    rejoin = Rejoin("Ever tried.")
    assert rejoin.feed("Ever") == ""
    assert rejoin.preview(" tried. Ever fai") == " Ever fai"
    assert rejoin.feed(" tried.") == ""
    assert rejoin.feed(" Ever failed. No matter.") == " Ever failed. No matter."


def test_once_joined_everything_comes_through() -> None:
    rejoin = Rejoin("one")
    rejoin.feed("one two three four five")
    assert rejoin.feed(" one") == " one"
