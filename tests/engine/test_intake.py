"""The intake gives whole frames, the rest only before a marker, and refuses what is no audio."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.engine.errors import SessionError
from sayso.engine.intake import Intake, samples_of


@given(st.lists(st.one_of(st.integers(0, 3000), st.just("flush")), max_size=30), st.integers(1, 8))
def test_every_sample_comes_out_once_in_order_and_on_its_side_of_the_markers(items: list, most: int) -> None:
    intake = Intake(10**9)
    turns: list[list[float]] = [[]]
    value = 0
    for item in items:
        if item == "flush":
            intake.mark(len(turns))
            turns.append([])
        else:
            samples = np.arange(value, value + item, dtype=np.float32)
            turns[-1] += samples.tolist()
            value += item
            intake.push(samples)
    out: list[list[float]] = [[]]
    while intake.ready or intake.marker is not None:
        if intake.marker is not None:
            assert intake.pop_marker() == len(out)
            out.append([])
            continue
        samples = intake.frames(most)
        assert 0 < len(samples) <= most * 512
        out[-1] += samples.tolist()
    rest = len(turns[-1]) % 512
    assert out[:-1] == turns[:-1]
    assert out[-1] == turns[-1][: len(turns[-1]) - rest]
    assert intake.waiting == rest


def test_audio_over_the_limit_is_refused_with_a_code() -> None:
    intake = Intake(1000)
    intake.push(np.zeros(1000, np.float32))
    with pytest.raises(SessionError) as error:
        intake.push(np.zeros(1, np.float32))
    assert error.value.code == "audio_overrun"


def test_a_cut_sample_is_refused_with_a_code() -> None:
    with pytest.raises(SessionError) as error:
        samples_of(b"abc")
    assert error.value.code == "bad_audio"


def test_samples_are_scaled_to_one() -> None:
    samples = samples_of(np.array([0, 16_384, -32_768, 32_767], "<i2").tobytes())
    assert samples.dtype == np.float32
    assert samples.tolist() == [0.0, 0.5, -1.0, 32_767 / 32_768]


def test_no_bytes_are_no_samples() -> None:
    assert len(samples_of(b"")) == 0
