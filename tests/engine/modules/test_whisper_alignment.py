from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.modules.whisper_alignment import relevance, starts


def test_each_token_starts_where_it_is_heard() -> None:
    scores = np.full((3, 60), -1.0)
    scores[0, :20], scores[1, 20:45], scores[2, 45:] = 1.0, 1.0, 1.0
    assert starts(scores).tolist() == [0, 20, 45]


@given(tokens=st.integers(1, 12), positions=st.integers(1, 60), seed=st.integers(0, 9))
def test_starts_never_go_back_and_stay_inside(tokens: int, positions: int, seed: int) -> None:
    begin = starts(np.random.default_rng(seed).normal(size=(tokens, positions)))
    assert len(begin) == tokens
    assert np.all(np.diff(begin) >= 0)
    assert begin[0] == 0
    assert begin[-1] < positions


def test_two_tokens_may_share_a_moment() -> None:
    scores = np.full((3, 10), -1.0)
    scores[0, :5], scores[1, 5], scores[2, 5:] = 1.0, 1.0, 1.0
    assert starts(scores).tolist() == [0, 5, 5]


def test_a_position_that_draws_every_token_counts_for_none() -> None:
    heard = torch.full((2, 3, 40), 0.01)
    heard[:, :, 0] = 5.0
    for token, place in enumerate((5, 18, 30)):
        heard[:, token, place : place + 8] += 0.3
    scores = relevance(heard, 40)
    assert scores.shape == (3, 40)
    for token, place in enumerate((5, 18, 30)):
        assert place <= int(scores[token].argmax()) < place + 8
