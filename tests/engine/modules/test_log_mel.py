from __future__ import annotations

import numpy as np
import pytest
import torch

from sayso.engine.modules.log_mel import LogMel, mel_filters


@pytest.mark.parametrize("bands", [80, 128])
def test_filters_have_the_area_of_one_hertz_each(bands: int) -> None:
    filters = mel_filters(bands)
    assert filters.shape == (bands, 201)
    wide = filters[-bands // 4 :]
    np.testing.assert_allclose(wide.sum(1) * 40.0, 1.0, atol=0.05)


@pytest.mark.parametrize("bands", [80, 128])
def test_features_equal_those_of_transformers(bands: int, beckett: np.ndarray) -> None:
    transformers = pytest.importorskip("transformers")
    oracle = transformers.WhisperFeatureExtractor(feature_size=bands)
    padded = np.zeros(480_000, np.float32)
    padded[: len(beckett)] = beckett
    theirs = oracle(padded, sampling_rate=16_000, return_tensors="np").input_features[0]
    ours = LogMel(bands)(torch.from_numpy(padded)[None])[0].numpy()
    assert ours.shape == theirs.shape == (bands, 3000)
    np.testing.assert_allclose(ours, theirs, atol=2e-4)


def test_a_batch_gives_what_each_row_gives_alone(beckett: np.ndarray) -> None:
    quiet, loud = torch.from_numpy(beckett[:32_000] * 0.01), torch.from_numpy(beckett[32_000:64_000])
    mel = LogMel(80)
    both = mel(torch.stack([quiet, loud]))
    torch.testing.assert_close(both[0], mel(quiet[None])[0])
    torch.testing.assert_close(both[1], mel(loud[None])[0])
