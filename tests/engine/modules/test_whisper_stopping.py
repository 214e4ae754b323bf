from __future__ import annotations

import numpy as np
import pytest
import torch

from sayso.engine.modules.whisper_stopping import (
    Stopping,
    compression_ratio,
    repeated_tail,
    times_repeated,
    went_round,
)


def _decode(tokens: object) -> str:
    """A vocabulary of letters: token 0 is " a", 1 is " b" and so on."""
    return "".join(f" {chr(97 + token)}" for token in tokens)  # type: ignore[attr-defined]


def _attention(*peaks: int) -> torch.Tensor:
    """One head that hears every token at one position of 100."""
    heard = torch.zeros(1, len(peaks), 100)
    for token, peak in enumerate(peaks):
        heard[0, token, max(0, peak - 3) : peak + 4] = 1.0
    return heard


@pytest.mark.parametrize(
    ("words", "size"),
    [("a b", 0), ("a a", 1), ("x a b a b", 2), ("a b c a b", 0), ("a b c a b c", 3), ("", 0)],
)
def test_the_repeated_tail_is_found(words: str, size: int) -> None:
    assert repeated_tail(words.split()) == size


def test_repeats_are_counted() -> None:
    assert times_repeated(["x", "no", "no", "no"], 1) == 3
    assert times_repeated(["a", "b", "a", "b", "a", "b"], 2) == 3


def test_the_attention_tells_saying_twice_from_writing_twice() -> None:
    twice = np.zeros((4, 100))
    for token, peak in enumerate((10, 20, 60, 70)):
        twice[token, peak] = 1
    assert not went_round(twice, slice(0, 2), slice(2, 4))
    round_again = twice[[0, 1, 0, 1]]
    assert went_round(round_again, slice(0, 2), slice(2, 4))


def test_a_phrase_written_twice_for_one_sound_is_cut() -> None:
    stopping = Stopping(_decode, [100])
    assert stopping.keep([0, 1, 0, 1], 0, 0, lambda: _attention(10, 20, 10, 20)) == 2


def test_a_phrase_said_twice_stays() -> None:
    stopping = Stopping(_decode, [100])
    assert stopping.keep([0, 1, 0, 1], 0, 0, lambda: _attention(10, 20, 60, 70)) is None


def test_the_known_prefix_counts_in_the_attention() -> None:
    stopping = Stopping(_decode, [100])
    assert stopping.keep([0, 1, 0, 1], 2, 0, lambda: _attention(1, 5, 10, 20, 60, 70)) is None


def test_an_endless_token_stops_without_asking_the_attention() -> None:
    def never() -> torch.Tensor:
        raise AssertionError("the attention is not needed")

    assert Stopping(_decode, [100]).keep([3, 4, 4, 4, 4, 4, 4], 0, 0, never) == 2


def test_text_that_repeats_itself_compresses_well() -> None:
    assert compression_ratio("open the window " * 12) > 2.4
    assert compression_ratio("open the window and close the door") < 1.5
    assert compression_ratio("") == 0.0
