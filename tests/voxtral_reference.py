"""Transformers' Voxtral Realtime as the oracle: tokens for a whole recording, and for the same in a stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tiny_voxtral import LEFT_PAD, SAMPLE_RATE

POSITION = 1280
BOS, PAD = 1, 32


class Reference:
    """The transformers model of a folder; the end of sequence is switched off, as in a live stream."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        from transformers import VoxtralRealtimeFeatureExtractor, VoxtralRealtimeForConditionalGeneration

        self.model: Any = VoxtralRealtimeForConditionalGeneration.from_pretrained(folder, dtype=dtype).eval()
        self.model.generation_config.eos_token_id = None
        self.model.generation_config.pad_token_id = 11
        self.model.generation_config.do_sample = False
        self.features: Any = VoxtralRealtimeFeatureExtractor(feature_size=128)

    @torch.no_grad()
    def whole(self, samples: np.ndarray, delay: int = 6) -> list[int]:
        """The tokens of a recording that is given at once."""
        prompt, padded = prompt_of(delay), padded_audio(samples, delay)
        mel = self.mel(padded)
        out = self.model.generate(input_ids=prompt, input_features=mel, num_delay_tokens=delay)
        return out[0, prompt.shape[1] :].tolist()

    @torch.no_grad()
    def stream(self, samples: np.ndarray, delay: int = 6) -> list[int]:
        """The tokens of transformers' own streaming, 80 ms after 80 ms."""
        prompt, mel = prompt_of(delay), self.mel(padded_audio(samples, delay))
        out = self.model.generate(
            input_ids=prompt, input_features=_portions(mel, prompt.shape[1]), num_delay_tokens=delay
        )
        # It also takes the last position, for whose features the recording would have to be a little longer.
        return out[0, prompt.shape[1] : -1].tolist()

    def mel(self, padded: np.ndarray) -> torch.Tensor:
        mel = self.features(padded, sampling_rate=SAMPLE_RATE, return_tensors="pt")["input_features"]
        return mel.to(self.model.dtype)


def prompt_of(delay: int) -> torch.Tensor:
    return torch.tensor([[BOS] + [PAD] * (LEFT_PAD + delay)])


def padded_audio(samples: np.ndarray, delay: int) -> np.ndarray:
    """Silence before and after, as mistral-common adds it for this delay."""
    after = -len(samples) % POSITION + (delay + 1 + 10) * POSITION
    return np.pad(samples, (LEFT_PAD * POSITION, after))


def _portions(mel: torch.Tensor, first: int) -> Iterator[torch.Tensor]:
    yield mel[..., : 8 * first]
    for at in range(8 * first, mel.shape[-1], 8):
        yield mel[..., at : at + 8]
