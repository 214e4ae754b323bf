"""Voice activity: the Silero network (version 6, 16 kHz) over all streams at once, with explicit state.

The weights are those of the ``silero-vad`` package (MIT); only its file is read, its code is never imported, since
that would bring audio libraries along. The network is small enough to write down: a Fourier transform as a
convolution, four convolutions, one LSTM cell and one output. Runs in the loop thread. Must equal the package's own
model on real audio (``tests/engine/test_vad.py``).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sayso.engine.errors import EngineError

FRAME_SAMPLES = 512
CONTEXT_SAMPLES = 64
FOURIER_SAMPLES = 256
BINS = FOURIER_SAMPLES // 2 + 1
HIDDEN = 128
WEIGHTS = "data/silero_vad.jit"
NAMES = {
    "stft_conv.weight": "stft.forward_basis_buffer",
    **{f"conv{n + 1}.{part}": f"encoder.{n}.reparam_conv.{part}" for n in range(4) for part in ("weight", "bias")},
    **{f"lstm_cell.{part}": f"decoder.rnn.{part}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")},
    **{f"final_conv.{part}": f"decoder.decoder.2.{part}" for part in ("weight", "bias")},
}


@dataclass(frozen=True)
class VoiceState:
    """What one stream carries from frame to frame: LSTM state (2, 128) and the last 64 samples."""

    cell: Tensor
    context: Tensor

    @classmethod
    def fresh(cls) -> VoiceState:
        return cls(torch.zeros(2, HIDDEN), torch.zeros(CONTEXT_SAMPLES))


class VoiceDetector(nn.Module):
    """Probability of speech for each frame of 512 samples."""

    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 2 * BINS, FOURIER_SAMPLES, stride=FOURIER_SAMPLES // 2, bias=False)
        self.conv1 = nn.Conv1d(BINS, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, HIDDEN, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(HIDDEN, HIDDEN)
        self.final_conv = nn.Conv1d(HIDDEN, 1, 1)

    @classmethod
    def load(cls, path: Path | None = None) -> VoiceDetector:
        """The detector with the weights at ``path``, by default those inside the ``silero-vad`` package."""
        detector = cls()
        detector.load_state_dict(read_weights(path or packaged_weights()))
        return detector.eval().requires_grad_(False)

    @torch.inference_mode()
    def run(
        self, streams: Sequence[np.ndarray], states: Sequence[VoiceState | None]
    ) -> tuple[list[np.ndarray], list[VoiceState]]:
        """Probabilities for every frame of every stream, and the states after them.

        ``streams`` are float32 arrays (frames, 512), not all equally many frames; ``None`` is the state of a
        stream that begins. Equal to each stream on its own up to rounding.
        """
        if not streams:
            return [], []
        order = sorted(range(len(streams)), key=lambda i: -len(streams[i]))
        longest_first = [streams[i] for i in order]
        before = [states[i] or VoiceState.fresh() for i in order]
        features = self._features(longest_first, [state.context for state in before])
        cells, rows = self._recur(features, [len(s) for s in longest_first], torch.stack([s.cell for s in before], 1))
        probabilities: list[np.ndarray] = [np.zeros(0, np.float32)] * len(order)
        after: list[VoiceState] = [VoiceState.fresh()] * len(order)
        for row, i in enumerate(order):
            probabilities[i] = rows[row]
            tail = torch.tensor(streams[i][-1, -CONTEXT_SAMPLES:]) if len(streams[i]) else None
            after[i] = VoiceState(cells[:, row].clone(), before[row].context if tail is None else tail)
        return probabilities, after

    def _features(self, streams: Sequence[np.ndarray], contexts: Sequence[Tensor]) -> list[Tensor]:
        """The convolutions over all frames of all streams in one batch: one tensor (frames, 128) a stream."""
        joined = []
        for frames, context in zip(streams, contexts, strict=True):
            whole = torch.cat([context, torch.tensor(frames).flatten()])
            joined.append(whole.unfold(0, CONTEXT_SAMPLES + FRAME_SAMPLES, FRAME_SAMPLES) if len(frames) else None)
        present = [frames for frames in joined if frames is not None]
        if not present:
            return []
        x = functional.pad(torch.cat(present), (0, CONTEXT_SAMPLES), mode="reflect").unsqueeze(1)
        spectrum = self.stft_conv(x)
        x = (spectrum[:, :BINS] ** 2 + spectrum[:, BINS:] ** 2).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = layer(x).relu()
        return list(x.squeeze(-1).split([len(frames) for frames in present]))

    def _recur(self, features: list[Tensor], counts: list[int], cells: Tensor) -> tuple[Tensor, list[np.ndarray]]:
        """The recurrent part, frame by frame; rows are sorted by length, so those still running are the first ones."""
        hidden, cell = cells[0].clone(), cells[1].clone()
        outputs = [np.zeros(count, np.float32) for count in counts]
        for step in range(counts[0] if counts else 0):
            running = sum(count > step for count in counts)
            x = torch.stack([rows[step] for rows in features[:running]])
            h, c = self.lstm_cell(x, (hidden[:running], cell[:running]))
            hidden[:running], cell[:running] = h, c
            probability = self.final_conv(h.relu().unsqueeze(-1)).sigmoid().flatten()
            for row, value in enumerate(probability.tolist()):
                outputs[row][step] = value
        return torch.stack([hidden, cell]), outputs


def packaged_weights() -> Path:
    """The model file inside the installed ``silero-vad`` package, found without importing it."""
    spec = importlib.util.find_spec("silero_vad")
    path = Path(spec.origin).parent / WEIGHTS if spec and spec.origin else None
    if path is None or not path.is_file():
        raise EngineError("vad_missing", "The voice detector's weights are missing: install the package silero-vad.")
    return path


def read_weights(path: Path) -> dict[str, Tensor]:
    """The 16 kHz half of the package's TorchScript file, under the names used here."""
    scripted = torch.jit.load(str(path), map_location="cpu").state_dict()
    return {ours: scripted[f"_model.{theirs}"].detach().clone() for ours, theirs in NAMES.items()}
