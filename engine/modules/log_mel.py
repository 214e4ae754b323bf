"""Log-mel features of Whisper: 25 ms windows every 10 ms, 80 or 128 mel bands, scaled to about -1 to 1.40.

Equal to transformers' ``WhisperFeatureExtractor`` (its slaney mel filters, its periodic Hann window, its reflected
edges and its floor of 8 below the loudest value), which the tests use as the oracle.
"""

from __future__ import annotations

import numpy as np
import torch

SAMPLE_RATE = 16_000
HOP = 160
"""Samples between two mel frames: 10 ms."""
_WINDOW = 400
_DYNAMIC_RANGE = 8.0


class LogMel:
    """Turns samples into mel frames; holds the filters for one number of bands."""

    def __init__(self, bands: int, device: torch.device | None = None) -> None:
        self.bands = bands
        self._filters = torch.from_numpy(mel_filters(bands)).to(device)
        self._window = torch.hann_window(_WINDOW, device=device)

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        """Samples [batch, n] (float32, 16 kHz) to mel frames [batch, bands, n // 160]."""
        spectrum = torch.stft(samples, _WINDOW, HOP, window=self._window, return_complex=True)
        power = torch.view_as_real(spectrum[..., :-1]).square().sum(-1)
        log = torch.matmul(self._filters, power).clamp_(min=1e-10).log10_()
        floor = log.amax(dim=(1, 2), keepdim=True) - _DYNAMIC_RANGE
        return torch.maximum(log, floor).add_(4.0).div_(4.0)


def mel_filters(bands: int) -> np.ndarray:
    """Triangular mel filters [bands, 201] on the slaney scale, each of unit area (as in librosa and Whisper)."""
    edges = _slaney_to_hertz(np.linspace(0.0, _hertz_to_slaney(SAMPLE_RATE / 2), bands + 2))
    bins = np.linspace(0.0, SAMPLE_RATE / 2, _WINDOW // 2 + 1)
    widths = np.diff(edges)
    slopes = edges[:, None] - bins[None, :]
    rising, falling = -slopes[:-2] / widths[:-1, None], slopes[2:] / widths[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return (triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


_LINEAR_STEP = 200.0 / 3.0
_BREAK_HERTZ = 1000.0
_LOG_STEP = np.log(6.4) / 27.0


def _hertz_to_slaney(hertz: float) -> float:
    if hertz < _BREAK_HERTZ:
        return hertz / _LINEAR_STEP
    return _BREAK_HERTZ / _LINEAR_STEP + float(np.log(hertz / _BREAK_HERTZ)) / _LOG_STEP


def _slaney_to_hertz(mels: np.ndarray) -> np.ndarray:
    start = _BREAK_HERTZ / _LINEAR_STEP
    return np.where(mels < start, mels * _LINEAR_STEP, _BREAK_HERTZ * np.exp(_LOG_STEP * (mels - start)))
