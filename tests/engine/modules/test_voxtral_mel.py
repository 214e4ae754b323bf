from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_voxtral import warbling

from sayso.engine.modules.voxtral_mel import AFTER, BEFORE, STEP_SAMPLES, StepMel

CPU = torch.device("cpu")


def test_1520_samples_give_the_eight_frames_that_the_whole_recording_gives() -> None:
    transformers = pytest.importorskip("transformers")
    sound = warbling(2.0)
    extractor = transformers.VoxtralRealtimeFeatureExtractor(feature_size=128)
    whole = extractor(sound, sampling_rate=16_000, return_tensors="pt")["input_features"][0].T
    mel = StepMel(128, 1.5, CPU)
    for step in range(1, 20):
        start = step * STEP_SAMPLES - BEFORE
        window = sound[start : start + 1520]
        assert BEFORE + STEP_SAMPLES + AFTER == len(window) == 1520
        assert torch.allclose(mel(torch.from_numpy(window)[None])[0], whole[8 * step : 8 * step + 8], atol=1e-6)


def test_several_steps_at_once_are_the_steps_one_by_one() -> None:
    sound, mel = torch.from_numpy(warbling(1.0)), StepMel(128, 1.5, CPU)
    three = mel(sound[None, : 3 * 1280 + 240])[0]
    single = [mel(sound[None, 1280 * n : 1280 * n + 1520])[0] for n in range(3)]
    assert torch.equal(three, torch.cat(single))


def test_a_frame_does_not_depend_on_how_loud_the_rest_is() -> None:
    mel = StepMel(128, 1.5, CPU)
    quiet = np.zeros((1, 1520), np.float32)
    assert torch.equal(mel(torch.from_numpy(quiet)), torch.full((1, 8, 128), (1.5 - 8 + 4) / 4))
