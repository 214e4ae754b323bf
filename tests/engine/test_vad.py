"""The voice detector equals the package's own model on real speech, in any batch and any cutting."""

import numpy as np
import pytest
import speech
import torch

from sayso.engine.vad import FRAME_SAMPLES, VoiceDetector, packaged_weights


def frames(samples: np.ndarray) -> np.ndarray:
    count = len(samples) // FRAME_SAMPLES
    return samples[: count * FRAME_SAMPLES].reshape(count, FRAME_SAMPLES)


@pytest.fixture(scope="module")
def detector() -> VoiceDetector:
    return VoiceDetector.load()


@pytest.fixture(scope="module")
def voices() -> list[np.ndarray]:
    noise = np.random.default_rng(1).normal(0, 0.1, 32_000).astype(np.float32)
    return [
        frames(speech.recording("beckett")[:48_000]),
        frames(speech.recording("two_cities")[16_000:56_000]),
        frames(noise[:16_000]),
    ]


def test_it_equals_the_packages_own_model_on_real_speech(detector: VoiceDetector, voices: list[np.ndarray]) -> None:
    original = torch.jit.load(str(packaged_weights()))
    for voice in voices:
        original.reset_states()
        expected = [original(torch.from_numpy(frame.copy()), 16_000).item() for frame in voice]
        np.testing.assert_allclose(detector.run([voice], [None])[0][0], expected, atol=1e-5)


def test_streams_of_unequal_length_in_one_batch_equal_each_alone(
    detector: VoiceDetector, voices: list[np.ndarray]
) -> None:
    together, states = detector.run([*voices, voices[0][:0]], [None] * 4)
    for voice, row, state in zip(voices, together, states, strict=False):
        alone, after = detector.run([voice], [None])
        np.testing.assert_allclose(row, alone[0], atol=1e-5)
        torch.testing.assert_close(state.cell, after[0].cell, atol=1e-4, rtol=0)
    assert len(together[3]) == 0


def test_any_cutting_with_the_state_carried_equals_the_whole(detector: VoiceDetector, voices: list[np.ndarray]) -> None:
    voice = voices[0]
    whole, _ = detector.run([voice], [None])
    parts, state, at = [], None, 0
    for size in (1, 2, 3, 50, 0, 1, len(voice)):
        rows, states = detector.run([voice[at : at + size]], [state])
        parts.append(rows[0])
        state, at = states[0], at + size
    np.testing.assert_allclose(np.concatenate(parts), whole[0], atol=1e-5)


def test_nothing_to_hear_gives_nothing(detector: VoiceDetector) -> None:
    assert detector.run([], []) == ([], [])
