"""Whole steps of fixed sizes, for devices where launching an operation costs more than running it.

A step takes the first ``size`` slots, those without a new frame included, so that nothing depends on who takes part:
all shapes, addresses and operations are the same every time, and on CUDA each size is recorded once as a graph and
replayed. What a step writes for a slot that takes no part lies where that slot's next position will be written anyway,
and nobody sees it before; only the convolution tails are kept back. The host sends a few blocks of numbers and waits
for the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sayso.engine.modules.voxtral_mel import AFTER, BEFORE, STEP_SAMPLES
from sayso.engine.modules.voxtral_realtime import Seat, VoxtralRealtime
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION

_SAMPLES = BEFORE + STEP_SAMPLES + AFTER
_WARM_UPS = 3
_TOKEN, _ENCODED, _DECODED, _ORIGIN, _ACTIVE = range(5)
"""Columns of the numbers that a step needs of each slot."""


@dataclass
class _Inputs:
    """Addresses that a recorded step reads: numbers [size, 5], penalties [size], samples [size, 1520]."""

    numbers: Tensor
    penalties: Tensor
    samples: Tensor

    @classmethod
    def zeros(cls, size: int, device: torch.device, *, pinned: bool = False) -> _Inputs:
        def make(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=device, pin_memory=pinned)

        return cls(
            make(size, 5, dtype=torch.int64), make(size, dtype=torch.float32), make(size, _SAMPLES, dtype=torch.float32)
        )

    def take(self, host: _Inputs) -> None:
        """Copy from the host without waiting."""
        self.numbers.copy_(host.numbers, non_blocking=True)
        self.penalties.copy_(host.penalties, non_blocking=True)
        self.samples.copy_(host.samples, non_blocking=True)


class StaticSteps:
    """One position for any seats of a model: samples in, tokens out, equal to ``encode`` and ``decode``."""

    def __init__(self, model: VoxtralRealtime) -> None:
        self._model = model
        self._recorded: dict[int, _RecordedStep] = {}

    @torch.inference_mode()
    def step(
        self, seats: Sequence[Seat], samples: Tensor, tokens: Sequence[int], pad_penalties: Sequence[float]
    ) -> tuple[list[int], list[float]]:
        """One position with samples [rows, 1520] and these tokens: the next tokens and their probabilities."""
        size = self._size(max(seat.slot for seat in seats) + 1)
        self._model.cover(size)
        if size not in self._recorded:
            self._recorded[size] = _RecordedStep(self._model, size)
        chosen, sure = self._recorded[size].run(seats, samples, tokens, pad_penalties)
        for seat in seats:
            seat.encoded += 1
            seat.decoded += 1
        return [chosen[seat.slot] for seat in seats], [sure[seat.slot] for seat in seats]

    def _size(self, wanted: int) -> int:
        """The next power of two, but not more slots than there are."""
        return min(1 << (wanted - 1).bit_length(), self._model.places)


class _RecordedStep:
    """The step of one size with its inputs and outputs; a graph on CUDA, called directly elsewhere."""

    def __init__(self, model: VoxtralRealtime, size: int) -> None:
        self._model = model
        self._size = size
        on_cuda = model.device.type == "cuda"
        self._host = _Inputs.zeros(size, torch.device("cpu"), pinned=on_cuda)
        self._inputs = _Inputs.zeros(size, model.device) if on_cuda else self._host
        self._graph = self._record() if on_cuda else None

    def run(
        self, seats: Sequence[Seat], samples: Tensor, tokens: Sequence[int], pad_penalties: Sequence[float]
    ) -> tuple[list[int], list[float]]:
        """Tokens and probabilities by slot."""
        host, numbers = self._host, [[0] * 5 for _ in range(self._size)]
        # Those that take no part need their positions too: what is written for them goes behind these.
        for seat in self._model.seated:
            if seat.slot < self._size:
                numbers[seat.slot] = [0, seat.encoded, seat.decoded, seat.origin, 0]
        slots = [seat.slot for seat in seats]
        for slot, token in zip(slots, tokens, strict=True):
            numbers[slot][_TOKEN], numbers[slot][_ACTIVE] = token, 1
        host.numbers.copy_(torch.tensor(numbers))
        host.penalties[slots] = torch.tensor(pad_penalties, dtype=torch.float32)
        host.samples[slots] = samples
        if self._graph is None:
            chosen, sure = self._body()
        else:
            self._inputs.take(host)
            self._graph.replay()
            chosen, sure = self._chosen, self._sure
        return chosen.tolist(), sure.tolist()

    def _record(self) -> torch.cuda.CUDAGraph:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                self._body()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._chosen, self._sure = self._body()
        return graph

    def _body(self) -> tuple[Tensor, Tensor]:
        model, inputs = self._model, self._inputs
        active = inputs.numbers[:, _ACTIVE].bool()
        hidden = self._decode(self._encode(active))
        scores = model.network.head(hidden[:, -1]).float()
        scores[:, model.tekken.pad] -= inputs.penalties
        best, chosen = scores.max(-1)
        return chosen, (best - scores.logsumexp(-1)).exp()

    def _encode(self, active: Tensor) -> Tensor:
        """Audio embeddings [size, 1, width]."""
        model, size, numbers = self._model, self._size, self._inputs.numbers
        mel = model.mel(self._inputs.samples).to(model.precision.compute)
        old_mel, old_conv = model.mel_tails[:size], model.conv_tails[:size]
        x, mel_tail, conv_tail = model.network.stem(mel, old_mel, old_conv)
        taking_part = active[:, None, None]
        old_mel.copy_(torch.where(taking_part, mel_tail, old_mel))
        old_conv.copy_(torch.where(taking_part, conv_tail, old_conv))
        starts = numbers[:, _ENCODED] * FRAMES_PER_POSITION
        ages = starts - numbers[:, _ORIGIN] * FRAMES_PER_POSITION
        step = model.encoder_rings.fixed_plan(ages, FRAMES_PER_POSITION, model.shape.encoder.grouped)
        frames = torch.arange(FRAMES_PER_POSITION, device=model.device)
        angles = model.encoder_rope.angles(starts.unsqueeze(1) + frames)
        return model.network.adapt(model.network.encoder(x, angles, model.encoder_rings, step))

    def _decode(self, audio: Tensor) -> Tensor:
        """The decoder's last hidden states [size, 1, width]."""
        model, numbers = self._model, self._inputs.numbers
        starts = numbers[:, _DECODED]
        step = model.decoder_rings.fixed_plan(starts - numbers[:, _ORIGIN], 1, model.shape.decoder.grouped)
        fused = model.network.fuse(numbers[:, _TOKEN : _TOKEN + 1], audio)
        angles = model.decoder_rope.angles(starts.unsqueeze(1))
        return model.network.decoder(fused, angles, model.decoder_rings, step, model.scales[: self._size])
