"""A loaded Voxtral Realtime: seats for sessions, and the two halves of a step over any of them in one batch.

A *seat* is one session's place: its rings, its convolution tails and its two position counters. ``encode`` turns
samples into audio embeddings, up to eight positions at once for sessions that are behind; ``decode`` advances sessions
by one position and gives their next tokens. Sessions of any age and delay share a call. Positions only ever grow and
have no limit. Runs in the loop thread; nothing here waits for a device except whoever reads the tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from sayso.engine.arena import as_tensor
from sayso.engine.blocks import Budget
from sayso.engine.device_memory import DeviceMemory
from sayso.engine.errors import EngineError
from sayso.engine.modules.builder import Builder, Precision
from sayso.engine.modules.rope import Rope, plain_steps
from sayso.engine.modules.tekken import Tekken
from sayso.engine.modules.voxtral_fused import stack_over
from sayso.engine.modules.voxtral_mel import AFTER, BEFORE, STEP_SAMPLES, StepMel
from sayso.engine.modules.voxtral_network import CONV_TAIL, MEL_TAIL, Network
from sayso.engine.modules.voxtral_prefix import EncoderPrefix, Prefix
from sayso.engine.modules.voxtral_shape import FRAMES_PER_POSITION, StackShape, read_shape
from sayso.engine.modules.voxtral_weights import VoxtralWeights
from sayso.engine.ring_cache import Rings, RingShape, Slots
from sayso.engine.step_threads import StepThreads

MOST_POSITIONS = 8
"""Positions that one call takes for a session."""


@dataclass
class Seat:
    """One session's place. Positions are the decoder's; the encoder has four frames for each."""

    slot: int
    delay: int
    origin: int = 0
    """The first position: nothing before it is seen."""
    encoded: int = 0
    decoded: int = 0
    """The next positions of the two halves."""


class VoxtralRealtime:
    """See the module. Rows of a batch must be seats of ascending slots."""

    def __init__(
        self,
        network: Network,
        tekken: Tekken,
        precision: Precision,
        slots: int,
        device: torch.device,
        memory: DeviceMemory | None = None,
    ) -> None:
        """``memory``: the device's, where it can be mapped: then only seats that are taken hold some."""
        self.network, self.tekken, self.precision, self.device = network, tekken, precision, device
        shape = network.shape
        self.shape = shape
        compute = precision.compute
        self.encoder_rings = Rings(_rings(shape.encoder, FRAMES_PER_POSITION, precision), slots, device, memory)
        self.decoder_rings = Rings(_rings(shape.decoder, 1, precision), slots, device, memory)
        self._encoder = stack_over(network.encoder, self.encoder_rings)
        self._decoder = stack_over(network.decoder, self.decoder_rings)
        self._shared = StepThreads(torch.get_num_threads())
        self._slots = Slots(slots)
        self._seated: dict[int, Seat] = {}
        self.mel = StepMel(shape.mel_bands, shape.mel_max, device)
        self.encoder_rope = Rope(plain_steps(shape.encoder.head_width, shape.encoder.theta), compute, device)
        self.decoder_rope = Rope(plain_steps(shape.decoder.head_width, shape.decoder.theta), compute, device)
        self.mel_tails = torch.zeros(slots, MEL_TAIL, shape.mel_bands, dtype=compute, device=device)
        self.conv_tails = torch.zeros(slots, CONV_TAIL, shape.encoder.width, dtype=compute, device=device)
        # One row of scales for each slot, filled when a session takes it: a step only gathers.
        layers, width = shape.decoder.layers, shape.decoder.width
        self.scales = torch.ones(slots, layers, width, dtype=compute, device=device)
        self._scales_of: dict[int, Tensor] = {}
        """Of every delay that was asked for; computing them costs more than bringing a session back."""
        self._encoder_prefixes: dict[int, EncoderPrefix] = {}
        self._prefixes: dict[tuple[int, int], Prefix] = {}

    @classmethod
    def load(
        cls, folder: Path, device: torch.device, precision: Precision, slots: int, memory: DeviceMemory | None = None
    ) -> VoxtralRealtime:
        """The model of a folder in either layout. Raises EngineError ``model_*`` that names what is wrong."""
        shape, tekken = read_shape(folder), Tekken.load(folder)
        if len(tekken) > shape.vocabulary:
            raise EngineError(
                "model_damaged", f"{folder}: tekken.json has {len(tekken)} tokens, the model {shape.vocabulary}."
            )
        network = Network(Builder(VoxtralWeights(folder, shape), precision, device), shape)
        return cls(network.eval(), tekken, precision, slots, device, memory)

    # Seats.

    @property
    def places(self) -> int:
        """Sessions that can sit at once."""
        return self._slots.count

    @property
    def place_bytes(self) -> int:
        """Memory of a place whose rings are full."""
        return self.encoder_rings.shape.slot_bytes + self.decoder_rings.shape.slot_bytes

    def draw_on(self, budget: Budget) -> None:
        """Take every place from this budget too, from now on; nobody sits yet."""
        self._slots = Slots(self.places, self.place_bytes, budget)

    @property
    def seats(self) -> int:
        """Sessions that sit."""
        return self._slots.used

    @property
    def seated(self) -> Collection[Seat]:
        """All seats that are taken."""
        return self._seated.values()

    def sit(self, delay: int) -> Seat:
        """A place for a session, after the shared prefix; raises EngineError ``session_limit``."""
        return self.sit_at(delay, 0)

    def sit_at(self, delay: int, origin: int) -> Seat:
        """The same with the first position at ``origin``, which makes no difference to any token."""
        prefix = self.prefix(delay, origin)
        seat = self.empty_seat(delay, origin)
        self.encoder_rings.copy_in(seat.slot, prefix.encoder.rings)
        self.decoder_rings.copy_in(seat.slot, prefix.decoder_rings)
        self.mel_tails[seat.slot] = prefix.encoder.mel_tail
        self.conv_tails[seat.slot] = prefix.encoder.conv_tail
        seat.encoded = seat.decoded = origin + prefix.positions
        return seat

    def leave(self, seat: Seat) -> None:
        """Give a place and its memory back."""
        self.encoder_rings.release(seat.slot)
        self.decoder_rings.release(seat.slot)
        self._slots.give_back(seat.slot)
        del self._seated[seat.slot]

    def seat_bytes(self, seat: Seat) -> int:
        """Memory of a session's rings, which it gives back when it leaves."""
        encoded, decoded = FRAMES_PER_POSITION * (seat.encoded - seat.origin), seat.decoded - seat.origin
        return self.encoder_rings.held_bytes(encoded) + self.decoder_rings.held_bytes(decoded)

    @property
    def mapped_bytes(self) -> int:
        """Memory of the device that seats hold and torch knows nothing of."""
        return self.encoder_rings.mapped_bytes + self.decoder_rings.mapped_bytes

    def cover(self, slots: int) -> None:
        """A recorded step over the first so many places follows."""
        self.encoder_rings.cover(slots)
        self.decoder_rings.cover(slots)

    def empty_seat(self, delay: int, origin: int) -> Seat:
        """A place whose rings hold nothing yet; raises EngineError ``session_limit``."""
        seat = Seat(self._take_slot(), delay, origin, origin, origin)
        self.mel_tails[seat.slot] = 0
        self.conv_tails[seat.slot] = 0
        if delay not in self._scales_of:
            self._scales_of[delay] = self.network.delay_scales(delay)
        self.scales[seat.slot] = self._scales_of[delay]
        self._seated[seat.slot] = seat
        return seat

    def _take_slot(self) -> int:
        slot = self._slots.take()
        try:
            self.encoder_rings.take(slot)
            self.decoder_rings.take(slot)
        except EngineError:
            self.encoder_rings.release(slot)
            self._slots.give_back(slot)
            raise
        return slot

    # The start that all sessions share.

    @property
    def prefix_positions(self) -> int:
        """Positions that do not depend on the audio."""
        return self.tekken.audio.left_pad - 1

    def prompt_token(self, position: int) -> int:
        """The text that the decoder is given while it has said nothing itself."""
        return self.tekken.bos if position == 0 else self.tekken.pad

    def prompt_length(self, delay: int) -> int:
        """Positions whose token is known beforehand."""
        return 1 + self.tekken.audio.left_pad + delay

    @torch.inference_mode()
    def prefix(self, delay: int, origin: int = 0) -> Prefix:
        """The start of a session with this delay, computed once."""
        if (delay, origin) not in self._prefixes:
            seat = self.empty_seat(delay, origin)
            try:
                self._prefixes[delay, origin] = self._compute_prefix(seat)
            finally:
                self.leave(seat)
        return self._prefixes[delay, origin]

    def _compute_prefix(self, seat: Seat) -> Prefix:
        count = self.prefix_positions
        if seat.origin not in self._encoder_prefixes:
            self._encoder_prefixes[seat.origin] = self._compute_encoder_prefix(seat)
        encoder = self._encoder_prefixes[seat.origin]
        for begin in range(0, count, MOST_POSITIONS):
            audio = encoder.audio[begin : begin + MOST_POSITIONS].unsqueeze(0)
            tokens = [self.prompt_token(position) for position in range(begin, begin + audio.shape[1])]
            with self._threads("prefix", audio.shape[1]):
                self._hidden([seat], as_tensor(tokens, torch.int64, self.device).unsqueeze(0), audio)
            seat.decoded += len(tokens)
        return Prefix(encoder, self.decoder_rings.copy_out(seat.slot, count), count)

    def _compute_encoder_prefix(self, seat: Seat) -> EncoderPrefix:
        count, audio = self.prefix_positions, []
        for begin in range(0, count, MOST_POSITIONS):
            positions = min(MOST_POSITIONS, count - begin)
            silence = torch.zeros(1, BEFORE + positions * STEP_SAMPLES + AFTER)
            audio.append(self.encode([seat], silence)[0])
        return EncoderPrefix(
            self.encoder_rings.copy_out(seat.slot, FRAMES_PER_POSITION * count),
            self.mel_tails[seat.slot].clone(),
            self.conv_tails[seat.slot].clone(),
            torch.cat(audio),
        )

    # Steps.

    @torch.inference_mode()
    def encode(self, seats: Sequence[Seat], samples: Tensor) -> Tensor:
        """Samples [rows, 200 + 1280 n + 40] that end each seat's next ``n`` positions, to audio embeddings.

        Returns [rows, n, width]; ``n`` is at most ``MOST_POSITIONS``.
        """
        positions = (samples.shape[1] - BEFORE - AFTER) // STEP_SAMPLES
        frames, slots = positions * FRAMES_PER_POSITION, [seat.slot for seat in seats]
        starts = [seat.encoded * FRAMES_PER_POSITION for seat in seats]
        ages = [(seat.encoded - seat.origin) * FRAMES_PER_POSITION for seat in seats]
        with self._threads("encoder", len(seats) * frames):
            rows = as_tensor(slots, torch.int64, self.device)
            mel = self.mel(samples.to(self.device, non_blocking=True)).to(self.precision.compute)
            x, mel_tail, conv_tail = self.network.stem(mel, self.mel_tails[rows], self.conv_tails[rows])
            step = self.encoder_rings.plan(slots, ages, frames, self.shape.encoder.grouped)
            angles = self.encoder_rope.angles(_positions(starts, frames, self.device))
            audio = self.network.adapt(self._encoder(x, angles, step))
            self.mel_tails[rows], self.conv_tails[rows] = mel_tail, conv_tail
        for seat in seats:
            seat.encoded += positions
        return audio

    @torch.inference_mode()
    def decode(
        self,
        seats: Sequence[Seat],
        tokens: Sequence[int],
        audio: Tensor,
        pad_penalties: Sequence[float],
        *,
        probabilities: bool = False,
    ) -> tuple[list[int], list[float]]:
        """One position further with these tokens and audio embeddings [rows, width]: the likeliest next tokens.

        ``pad_penalties`` are taken off the score of the token for "nothing to say". The tokens' probabilities are
        computed only if somebody wants them, else they are 1. Waits for the device, here and nowhere else.
        """
        given = as_tensor(list(tokens), torch.int64, self.device).unsqueeze(1)
        with self._threads("decoder", len(seats)):
            hidden = self._hidden(seats, given, audio.unsqueeze(1))
            scores = self.network.head(hidden[:, -1])
            if any(pad_penalties):
                scores[:, self.tekken.pad] -= as_tensor(list(pad_penalties), scores.dtype, self.device)
            best, ids = scores.max(-1)
            sure = (best.float() - scores.float().logsumexp(-1)).exp().tolist() if probabilities else [1.0] * len(seats)
            chosen = ids.tolist()
        for seat in seats:
            seat.decoded += 1
        return chosen, sure

    def _hidden(self, seats: Sequence[Seat], tokens: Tensor, audio: Tensor) -> Tensor:
        slots, starts = [seat.slot for seat in seats], [seat.decoded for seat in seats]
        new = tokens.shape[1]
        ages = [seat.decoded - seat.origin for seat in seats]
        step = self.decoder_rings.plan(slots, ages, new, self.shape.decoder.grouped)
        angles = self.decoder_rope.angles(_positions(starts, new, self.device))
        scales = self.scales[step.slots[:, 0]]
        return self._decoder(self.network.fuse(tokens, audio), angles, step, scales)

    def _threads(self, stack: str, rows: int) -> AbstractContextManager[None]:
        """The threads for a step of so many rows."""
        return self._shared.step((stack, rows.bit_length())) if self.device.type == "cpu" else nullcontext()


def _rings(shape: StackShape, per_position: int, precision: Precision) -> RingShape:
    most_new = MOST_POSITIONS * per_position
    return RingShape(shape.layers, shape.kv_heads, shape.head_width, shape.window, most_new, precision.cache)


def _positions(starts: Sequence[int], new: int, device: torch.device) -> Tensor:
    """Positions [rows, new]."""
    return as_tensor(list(starts), torch.int64, device).unsqueeze(1) + torch.arange(new, device=device)
