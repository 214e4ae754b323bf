"""Voxtral Realtime as a streaming recogniser: one step every 80 ms over all sessions that have a frame. Loop thread.

``VoxtralStream`` is the state of one turn; ``VoxtralRunner`` owns the model and runs the batches. A session that is
behind has up to eight positions encoded at once; its tokens still come one after the other, since each is the next
one's input.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sayso.engine.blocks import Budget
from sayso.engine.device_memory import device_memory
from sayso.engine.messages import SAMPLE_RATE, SessionOptions
from sayso.engine.modules import voxtral_parcel
from sayso.engine.modules.precision import choose_precision
from sayso.engine.modules.voxtral_precision import places
from sayso.engine.modules.voxtral_realtime import MOST_POSITIONS, Seat, VoxtralRealtime
from sayso.engine.modules.voxtral_shape import read_shape
from sayso.engine.modules.voxtral_static import StaticSteps
from sayso.engine.parcel import Parcel
from sayso.engine.runner.base import Before, Holding, Offer, Piece, Stream, Utterance
from sayso.engine.runner.blank_watchdog import BlankWatchdog
from sayso.engine.runner.voxtral_text import VoxtralText
from sayso.engine.runner.voxtral_timeline import POSITION_MS, POSITION_SAMPLES, Timeline, nearest_delay_ms
from sayso.engine.tape import Tape

if TYPE_CHECKING:
    from sayso.engine.catalog import ModelFiles

logger = logging.getLogger(__name__)

LANGUAGES = ("en", "fr", "es", "de", "ru", "zh", "ja", "it", "pt", "nl", "ar", "hi", "ko")
COST_MS = 1.0
"""About what one session adds to a step; only its proportion to a step's bound matters."""
BATCH_KEY = ("voxtral_realtime",)
RECOMPUTABLE_SAMPLES = 120 * SAMPLE_RATE
"""All audio of a turn is kept up to this length, so that its cache may be dropped; 64 kB a second."""


class VoxtralStream:
    """One turn. It takes its seat with its first step and gives it back when it is done or closed."""

    def __init__(self, model: VoxtralRealtime, utterance: Utterance, delay: int, *, probabilities: bool) -> None:
        self.utterance = utterance
        self.delay = delay
        self.probabilities = probabilities
        self.seat: Seat | None = None
        self.watchdog = BlankWatchdog()
        self._model = model
        self._timeline = Timeline(model.tekken.audio.left_pad, delay)
        self._text = VoxtralText(model.tekken, self._timeline)
        self._audio: Tensor | None = None
        """Embeddings [positions, width] that were encoded and not decoded yet."""
        self._taken = 0
        self._encoded = self._decoded = model.prefix_positions
        self._last_token = model.tekken.pad
        self._said: list[int] = []
        """All tokens from the first one of the text on while the turn can be computed again: that follows them."""
        self._pieces: list[Piece] = []
        self._due_since: float | None = None
        self._finished = False

    # What the session asks.

    @property
    def done(self) -> bool:
        return self._finished and not self._pieces

    @property
    def needed_from(self) -> int:
        if self.utterance.end <= RECOMPUTABLE_SAMPLES and self.recomputable:
            return 0
        return max(0, self._timeline.window(self._encoded, 1)[0])

    @property
    def recomputable(self) -> bool:
        return self.utterance.tape.start == 0

    @property
    def behind(self) -> int:
        heard = (self._decoded - self._timeline.left_pad) * POSITION_SAMPLES
        return min(self.utterance.end, max(0, self.utterance.end - heard))

    @property
    def holding(self) -> Holding:
        if self.seat is None:
            return Holding()
        return Holding(self._model.seat_bytes(self.seat), self._audio.nbytes if self._audio is not None else 0)

    @property
    def due(self) -> bool:
        return bool(self.waiting or self.encodable)

    def offer(self, now: float) -> Offer | None:
        if not self.due:
            self._due_since = None
            return None
        if self._due_since is None:
            self._due_since = now
        return Offer(COST_MS, self._due_since + POSITION_MS / 1000, BATCH_KEY)

    def take(self) -> list[Piece]:
        if not self._finished and self.utterance.ended and self._decoded >= self._timeline.total(self.utterance.end):
            self._finished = True
            self.close()
            last = self._text.finish(self.utterance.end)
            if last is not None:
                self._pieces.append(last)
        pieces, self._pieces = self._pieces, []
        return pieces

    def close(self) -> None:
        if self.seat is not None:
            self._model.leave(self.seat)
            self.seat = None
            self._audio = None

    # What puts it away: only while it offers no work, so all that was encoded was decoded.

    def pack(self) -> Parcel:
        assert self.seat is not None
        parcel = voxtral_parcel.pack(self._model, self.seat)
        self.seat = self._audio = None
        return parcel

    def unpack(self, parcel: Parcel | None) -> None:
        self.seat = voxtral_parcel.unpack(self._model, parcel) if parcel is not None else self.sit()

    def forget(self) -> None:
        """What comes out on the way back to where it was is not said again (see ``decoded``)."""
        self.close()
        self._encoded = self._decoded = self._model.prefix_positions

    # What the runner asks.

    @property
    def waiting(self) -> int:
        """Positions that are encoded and wait to be decoded."""
        return len(self._audio) - self._taken if self._audio is not None else 0

    @property
    def encodable(self) -> int:
        """Positions whose samples are all there."""
        utterance = self.utterance
        there = self._timeline.total(utterance.end) if utterance.ended else self._timeline.complete(utterance.end)
        return max(0, there - self._encoded)

    @property
    def portion(self) -> int:
        """How many positions to encode at once: a power of two, so that few sizes of batch occur.

        It stays within a block of ``MOST_POSITIONS``, in which each position is computed as it would be by itself.
        """
        left = MOST_POSITIONS - self._encoded % MOST_POSITIONS
        return 1 << (min(self.encodable, left).bit_length() - 1)

    def sit(self) -> Seat:
        """The stream's seat, taken now if it has none."""
        if self.seat is None:
            self.seat = self._model.sit(self.delay)
        return self.seat

    def samples(self, positions: int) -> np.ndarray:
        """The samples of the next positions; silence before the turn and after its end."""
        start, end = self._timeline.window(self._encoded, positions)
        heard = self.utterance.end
        there = self.utterance.tape.read(min(max(start, 0), heard), max(0, min(end, heard)))
        before = min(max(0, -start), end - start)
        return np.pad(there, (before, end - start - before - len(there)))

    def encoded(self, audio: Tensor) -> None:
        """Embeddings [positions, width] of the samples that were asked for."""
        self._audio, self._taken = audio, 0
        self._encoded += len(audio)

    def stepped(self) -> None:
        """One position was encoded and decoded together; no embedding is kept."""
        self._encoded += 1

    @property
    def next_token(self) -> int:
        """The token that the next position is given: the prompt's, then the model's own last one."""
        known = self._decoded <= self._timeline.first_token
        return self._model.prompt_token(self._decoded) if known else self._last_token

    def next_input(self) -> tuple[int, Tensor]:
        """The token and the audio embedding of the next position."""
        assert self._audio is not None
        return self.next_token, self._audio[self._taken]

    def decoded(self, token: int, probability: float) -> None:
        """The token that followed."""
        number = self._decoded - self._timeline.first_token
        self._taken += 1
        self._decoded += 1
        self._due_since = None
        if number < 0:
            return
        if number < len(self._said):
            self._last_token = self._said[number]
            return
        if self.recomputable:
            self._said.append(token)
        else:
            # Nothing of the turn is computed again any more, so a long one keeps no list that grows.
            self._said.clear()
        self._last_token = token
        was_alarmed = self.watchdog.alarmed
        self.watchdog.push(blank=token == self._model.tekken.pad, voiced_frames=self.utterance.voiced_frames)
        if self.watchdog.alarmed and not was_alarmed:
            logger.info("a turn has speech but no text since %d tokens: helping it on", self._text.count)
        piece = self._text.push(token, probability, self.utterance.end)
        if piece is not None:
            self._pieces.append(piece)


class VoxtralRunner:
    """One loaded Voxtral Realtime."""

    gated = False
    positions_a_second = 1000 / POSITION_MS
    languages: tuple[str, ...] = LANGUAGES

    def __init__(self, model: VoxtralRealtime, name: str, *, fixed_steps: bool = False) -> None:
        self._model = model
        self.name = name
        self._fixed = StaticSteps(model) if fixed_steps else None

    @classmethod
    def load(cls, files: ModelFiles, device: str, precision: str = "auto") -> VoxtralRunner:
        """The model of a folder; ``precision`` as in ``choose_precision``."""
        place = torch.device(device)
        chosen = choose_precision(precision, place)
        shape = read_shape(files.folder)
        memory = device_memory(place)
        model = VoxtralRealtime.load(files.folder, place, chosen, places(shape, chosen, place), memory)
        return cls(model, files.name, fixed_steps=place.type == "cuda")

    @property
    def weight_bytes(self) -> int:
        return self._model.network.weight_bytes

    @property
    def mapped_bytes(self) -> int:
        return self._model.mapped_bytes

    @property
    def place_bytes(self) -> int:
        return self._model.place_bytes

    def draw_on(self, budget: Budget) -> None:
        """See ``engine.runner.base.Budgeted``."""
        self._model.draw_on(budget)

    def warm(self) -> None:
        """The shared start for the usual delay, and one step of each kind."""
        tape = Tape()
        tape.append(np.zeros(POSITION_SAMPLES, np.float32))
        stream = self.stream(Utterance(tape, 0, tape.end, 0, ended=True), SessionOptions(), Before())
        while not stream.done:
            self.run([stream])
            stream.take()

    def stream(self, utterance: Utterance, options: SessionOptions, before: Before) -> VoxtralStream:
        delay_ms = nearest_delay_ms(options.delay_ms or self._model.tekken.audio.delay_ms)
        return VoxtralStream(self._model, utterance, delay_ms // POSITION_MS, probabilities=options.words)

    def run(self, streams: Sequence[Stream]) -> None:
        rows = [stream for stream in streams if isinstance(stream, VoxtralStream)]
        rows.sort(key=lambda stream: stream.sit().slot)
        if self._fixed is not None:
            self._run_fixed(rows, self._fixed)
            return
        self._encode([stream for stream in rows if not stream.waiting])
        for _ in range(MOST_POSITIONS):
            self._decode([stream for stream in rows if stream.waiting])
            # Whoever is on time waits for its next frame; the others must not keep it waiting.
            if not all(stream.waiting for stream in rows):
                break

    def _run_fixed(self, rows: Sequence[VoxtralStream], fixed: StaticSteps) -> None:
        """One position for each stream, and more while all of them are behind."""
        for _ in range(MOST_POSITIONS):
            samples = torch.from_numpy(np.stack([stream.samples(1) for stream in rows]))
            tokens = [stream.next_token for stream in rows]
            penalties = [stream.watchdog.penalty for stream in rows]
            chosen, sure = fixed.step([stream.sit() for stream in rows], samples, tokens, penalties)
            for stream, token, probability in zip(rows, chosen, sure, strict=True):
                stream.stepped()
                stream.decoded(token, probability)
            if not all(stream.encodable for stream in rows):
                break

    def _encode(self, rows: Sequence[VoxtralStream]) -> None:
        """Encode what each stream has, streams with as many positions in one batch."""
        groups: dict[int, list[VoxtralStream]] = {}
        for stream in rows:
            if stream.encodable:
                groups.setdefault(stream.portion, []).append(stream)
        for positions, members in groups.items():
            samples = torch.from_numpy(np.stack([stream.samples(positions) for stream in members]))
            audio = self._model.encode([stream.sit() for stream in members], samples)
            for stream, embeddings in zip(members, audio, strict=True):
                stream.encoded(embeddings)

    def _decode(self, rows: Sequence[VoxtralStream]) -> None:
        """One position further for each of these streams."""
        inputs = [stream.next_input() for stream in rows]
        tokens, probabilities = self._model.decode(
            [stream.sit() for stream in rows],
            [token for token, _ in inputs],
            torch.stack([audio for _, audio in inputs]),
            [stream.watchdog.penalty for stream in rows],
            probabilities=any(stream.probabilities for stream in rows),
        )
        for stream, token, probability in zip(rows, tokens, probabilities, strict=True):
            stream.decoded(token, probability)
