"""Log-mel features of Voxtral Realtime from exactly the samples that they need.

A mel frame ``i`` is centred at sample 160 i and touches 200 samples on each side, so the 8 frames of a step need
1520 samples: 200 before the step's own 1280 and 40 after. The loudest value is a constant, hence a frame never
depends on the rest of the audio. Equal to transformers' ``VoxtralRealtimeFeatureExtractor``, which waits for 160
samples more.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sayso.engine.modules.log_mel import HOP, mel_filters

WINDOW = 400
FRAMES_PER_STEP = 8
STEP_SAMPLES = FRAMES_PER_STEP * HOP
BEFORE, AFTER = WINDOW // 2, WINDOW // 2 - HOP
_RANGE = 8.0


class StepMel:
    """Turns windows of samples into the mel frames of whole steps."""

    def __init__(self, bands: int, mel_max: float, device: torch.device) -> None:
        self._filters = torch.from_numpy(mel_filters(bands)).to(device).T.contiguous()
        self._window = torch.hann_window(WINDOW, device=device)
        self._floor = mel_max - _RANGE

    def __call__(self, samples: Tensor) -> Tensor:
        """Samples [rows, 200 + 1280 n + 40] (float32, 16 kHz) to mel frames [rows, 8 n, bands]."""
        frames = samples.unfold(1, WINDOW, HOP) * self._window
        spectrum = torch.view_as_real(torch.fft.rfft(frames)).square().sum(-1)
        log = torch.matmul(spectrum, self._filters).clamp_(min=1e-10).log10_()
        return log.clamp_(min=self._floor).add_(4.0).div_(4.0)
