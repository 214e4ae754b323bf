from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.modules import whisper_window as window


@given(dense=st.integers(1, 1500), group=st.integers(1, 64))
def test_every_position_of_the_full_window_is_stood_for_once(dense: int, group: int) -> None:
    shape = window.compressed(dense, group)
    assert shape.dense + sum(shape.sizes) == 1500
    positions = shape.positions()
    assert len(positions) == shape.length
    assert np.all(np.diff(positions) > 0)
    assert positions[-1] == 1499


@given(samples=st.integers(0, 480_000))
def test_a_bucket_holds_the_sound_and_silence_after_it(samples: int) -> None:
    dense = window.bucket(samples)
    assert dense == 1500 or dense * 320 >= samples + 25 * 320 - 320
    assert dense % 25 == 0


def test_requests_within_half_a_second_share_a_bucket() -> None:
    assert window.bucket(16_001) == window.bucket(23_999)
    assert window.bucket(16_000) != window.bucket(24_001)


def test_sizes_return_as_weight_in_the_attention() -> None:
    shape = window.compressed(100, 8)
    weights = np.exp(shape.log_sizes())
    assert weights.sum() == pytest.approx(1500, rel=1e-5)
    assert np.all(weights[:100] == 1.0)


def test_a_long_sound_takes_the_whole_window() -> None:
    assert window.compressed(1500, 8) == window.full()
    assert window.compressed(1499, 8) == window.full()
