"""One session: its state, its turn, its audio and the text that comes out. Pure: no torch, no clock, no pipe.

The loop drives it: messages come in through ``receive``, ``flush``, ``cancel`` and ``configure``; ``examine`` gives
samples for the voice detector and ``heard`` takes its probabilities; ``offer`` names work for the scheduler; and
``results`` gives the messages to send. Work may run between any two of these calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from sayso.engine.intake import Intake, samples_of
from sayso.engine.messages import SAMPLE_RATE, Flushed, Ledger, Message, SessionOptions, Speech, Text, Tier, Word
from sayso.engine.options import SAMPLES_PER_MS, Limits, Segmentation
from sayso.engine.parcel import Away
from sayso.engine.runner.base import Before, Piece, Restable, SpokenWord, Stream, Utterance
from sayso.engine.scheduler import Work
from sayso.engine.segmentation import FRAME_SAMPLES, Change, Edge, Segmenter
from sayso.engine.tape import Tape

CONTEXT_WORDS = 40
"""Stable words of the turn that a new utterance's stream is told about."""
QUIET_EVERY = 10 * SAMPLE_RATE
"""So often a client is told that there is nothing more to come, while nobody speaks."""
QUIET_MARGIN = 2 * SAMPLE_RATE
"""Speech that begins now may be found to have begun so much before."""


class State(Enum):
    """``ACTIVE`` has audio or work before it, ``WAITING`` waits for the client; the others do so and hold less."""

    ACTIVE = "active"
    WAITING = "waiting"
    PARKED = "parked"
    HIBERNATED = "hibernated"
    DROPPED = "dropped"
    CLOSED = "closed"


AWAY: dict[Tier, State] = {"host": State.PARKED, "disk": State.HIBERNATED, "dropped": State.DROPPED}


@dataclass
class Turn:
    """Everything that belongs to one turn; positions are samples since its start."""

    segmenter: Segmenter
    tape: Tape = field(default_factory=Tape)
    utterances: deque[Utterance] = field(default_factory=deque)
    context: deque[SpokenWord] = field(default_factory=lambda: deque(maxlen=CONTEXT_WORDS))
    """The newest stable words."""
    examined: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    """Samples that the voice detector has now."""
    last_end: int = 0
    """Where the last utterance ended."""
    finishing: bool = False
    """Its marker was reached: no more audio belongs to it."""
    mid_utterance: bool = False
    """The utterance at hand has stable text already."""
    quiet_until: int = 0
    """Silence was told up to here."""


OpenStream = Callable[[Utterance, SessionOptions, Before], Stream]


class Session:
    """See the module. ``epoch`` is the generation whose audio is taken; results carry it."""

    def __init__(
        self,
        name: str,
        epoch: int,
        options: SessionOptions,
        open_stream: OpenStream,
        *,
        gated: bool = True,
        positions_a_second: float = 0.0,
        limits: Limits | None = None,
        segmentation: Segmentation | None = None,
    ) -> None:
        self.name = name
        self.epoch = epoch
        self.detector_state: object | None = None
        """What the voice detector carries for this turn; the loop's to keep here."""
        self._next_options = options
        self._open_stream = open_stream
        self._gated = gated
        self._positions_a_second = positions_a_second
        self._segmentation = segmentation or Segmentation()
        self._intake = Intake(int((limits or Limits()).unheard_s * SAMPLE_RATE))
        self._stream: Stream | None = None
        self._outbox: list[Message] = []
        self._closed = False
        self.options = options
        self.away: Away | None = None
        """Where the stream's keys and values are, when they are not in the model."""
        self._turn = Turn(Segmenter(self._segmentation))

    @property
    def state(self) -> State:
        """Told from what waits and from where its keys and values are; nothing keeps it."""
        if self._closed:
            return State.CLOSED
        if self.away is not None:
            return AWAY[self.away.tier]
        return State.WAITING if self.rests else State.ACTIVE

    # In: what the client sends.

    def receive(self, epoch: int, data: bytes) -> None:
        """Take audio; raises ``SessionError`` when it is not audio or far too much."""
        if self._accepts(epoch):
            self._intake.push(samples_of(data))

    def flush(self, epoch: int, marker: int) -> None:
        """End the turn after the audio that came so far."""
        if self._accepts(epoch):
            self._intake.mark(marker)

    def cancel(self, epoch: int) -> None:
        """Drop the open turn, everything waiting included."""
        if epoch >= self.epoch:
            self.epoch = epoch
            self._intake.clear()
            self._outbox.clear()
            self._begin_turn()

    def configure(self, options: SessionOptions) -> None:
        """Options for the next turn; for this one too when nothing of it was heard yet."""
        self._next_options = options
        if self._turn.tape.end == 0:
            self.options = options

    def _accepts(self, epoch: int) -> bool:
        """A message of an older epoch is dropped; one of a newer epoch announces the cancel it belongs to."""
        if epoch > self.epoch:
            self.cancel(epoch)
        return epoch == self.epoch

    # Hearing: from samples to utterances.

    @property
    def examinable(self) -> bool:
        """Whether there are samples for the voice detector, and the turn they belong to is open."""
        return self._intake.ready and not self._turn.finishing and self.away is None

    def examine(self, most: int) -> np.ndarray:
        """The next samples for the voice detector as (frames, 512), the last frame filled up with zeros."""
        self._turn.examined = self._intake.frames(most)
        missing = -len(self._turn.examined) % FRAME_SAMPLES
        return np.pad(self._turn.examined, (0, missing)).reshape(-1, FRAME_SAMPLES)

    def heard(self, probabilities: np.ndarray) -> None:
        """Take the speech probability of each frame that ``examine`` gave."""
        for index, probability in enumerate(probabilities.tolist()):
            self._turn.tape.append(self._turn.examined[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES])
            for change in self._turn.segmenter.push(probability):
                self._apply(change)
            self._extend(probability)
        self._turn.examined = self._turn.examined[:0]

    def _apply(self, change: Change) -> None:
        """Make the utterances follow what the segmenter decided."""
        if change.edge in (Edge.BEGIN, Edge.END) and self.options.speech:
            kind = "start" if change.edge is Edge.BEGIN else "stop"
            at_ms = min(change.at, self._turn.tape.end) // SAMPLES_PER_MS
            self._outbox.append(Speech(self.name, self.epoch, kind, at_ms))  # type: ignore[arg-type]
        if not self._gated:
            return
        if change.edge is Edge.BEGIN:
            start = max(
                change.at - self._segmentation.preroll_ms * SAMPLES_PER_MS, self._turn.last_end, self._turn.tape.start
            )
            self._turn.utterances.append(
                Utterance(
                    self._turn.tape, start, self._turn.tape.end, change.at, len(change.voiced), sum(change.voiced)
                )
            )
            return
        utterance = self._turn.utterances[-1]
        utterance.paused = change.edge is Edge.PAUSE
        if change.edge is Edge.END:
            self._end_utterance(utterance)

    def _extend(self, probability: float) -> None:
        """Let the open utterance reach the newest sample, unless it stands still in a pause."""
        utterance = self._turn.utterances[-1] if self._turn.utterances and not self._turn.utterances[-1].ended else None
        if utterance is None:
            if self._gated:
                return
            utterance = Utterance(self._turn.tape, 0, 0, 0)
            self._turn.utterances.append(utterance)
        if probability >= self._segmentation.start_probability:
            utterance.voiced_frames += 1
            utterance.voice_sum += probability
            utterance.voice_end = self._turn.tape.end
        if not utterance.paused:
            utterance.end = self._turn.tape.end

    def _end_utterance(self, utterance: Utterance) -> None:
        utterance.ended, utterance.paused = True, False
        self._turn.last_end = utterance.end

    # Working: streams over the utterances.

    @property
    def due(self) -> bool:
        """Whether there is work on an utterance; to ask changes nothing."""
        if self.away is not None:
            return False
        # What was said a moment ago has no stream yet.
        return self._stream.due if self._stream is not None else bool(self._turn.utterances)

    def offer(self, now: float) -> Work | None:
        """The work of the utterance at hand at ``now`` (seconds on the loop's clock), if any is due."""
        stream = self.stream if self.away is None else None
        offer = stream.offer(now) if stream is not None else None
        return Work(self.name, offer.cost_ms, offer.deadline, offer.batch_key) if offer is not None else None

    @property
    def stream(self) -> Stream | None:
        """The stream of the oldest utterance that is not through."""
        if self._stream is None and self._turn.utterances:
            before = Before(tuple(self._turn.context))
            self._stream = self._open_stream(self._turn.utterances[0], self.options, before)
        return self._stream

    # Resting: keys and values are put away, and come back when the client goes on (``engine.resting``).

    @property
    def rests(self) -> bool:
        """Whether nothing is to be done before the client sends more; to ask changes nothing."""
        return not (self.wanted or self.examinable or self.due)

    @property
    def wanted(self) -> bool:
        """Whether the client went on: there is audio to hear, or a turn to end."""
        return self._intake.ready or self._intake.marker is not None

    @property
    def restable(self) -> Restable | None:
        """The stream, when it holds something that can be put away, or that was."""
        stream = self._stream
        if stream is None or not isinstance(stream, Restable):
            return None
        return stream if self.away is not None or stream.holding.kv else None

    # Out: what the client gets.

    def results(self) -> list[Message]:
        """Messages to send, in order; ends the turn when its marker is reached and all its text is out."""
        while self.away is None:
            self._collect()
            if self._intake.marker is None or (self._turn.finishing and self._turn.utterances):
                break
            if not self._turn.finishing:
                self._finish_turn()
                continue
            marker, epoch = self._intake.pop_marker(), self.epoch
            positions = round(self._turn.tape.end / SAMPLE_RATE * self._positions_a_second)
            self._outbox.append(Flushed(self.name, epoch, marker, self._turn.tape.end // SAMPLES_PER_MS, positions))
            self._begin_turn()
        self._tell_quiet()
        messages, self._outbox = self._outbox, []
        return messages

    def _tell_quiet(self) -> None:
        """Nobody speaks and all text is out: the audio so far need not be kept by those who would send it again."""
        until = self._turn.tape.end - QUIET_MARGIN
        if self._gated and not self._turn.utterances and until - self._turn.quiet_until >= QUIET_EVERY:
            self._turn.quiet_until = until
            until_ms = until // SAMPLES_PER_MS
            self._outbox.append(Text(self.name, self.epoch, "", True, until_ms, until_ms))

    def ledger(self, idle_s: float, age_s: float) -> Ledger:
        """What this session holds in memory."""
        holding = self._stream.holding if self._stream is not None else None
        audio = self._turn.tape.nbytes + self._intake.nbytes
        kv, features = (holding.kv, holding.features) if holding is not None else (0, 0)
        host, disk = (self.away.host_bytes, self.away.disk_bytes) if self.away is not None else (0, 0)
        return Ledger(self.name, self.state.value, kv, audio, features, idle_s, age_s, host, disk)

    @property
    def behind_ms(self) -> float:
        """Audio that no text has looked at yet."""
        behind = self._intake.waiting
        if self._stream is not None and self.away is None:
            behind += self._stream.behind
        return (behind + sum(u.end - u.start for u in list(self._turn.utterances)[1:])) / SAMPLES_PER_MS

    def _finish_turn(self) -> None:
        """The marker is next: close the open utterance, however short it is."""
        self._turn.finishing = True
        for change in self._turn.segmenter.finish():
            self._apply(change)
        if self._turn.utterances and not self._turn.utterances[-1].ended:
            self._end_utterance(self._turn.utterances[-1])

    def _collect(self) -> None:
        """Take the text of every stream that has some, and go on to the next utterance when one is through."""
        while (stream := self.stream) is not None:
            for piece in stream.take():
                self._publish(piece)
            if not stream.done:
                break
            self._turn.utterances.popleft()
            self._drop_stream()
            self._turn.mid_utterance = False
        keep = self._turn.tape.end - (self._segmentation.preroll_ms + 200) * SAMPLES_PER_MS
        if self._stream is not None:
            keep = min(keep, self._stream.needed_from)
        self._turn.tape.drop_before(keep)

    def _publish(self, piece: Piece) -> None:
        """One piece as a message, with the space that its place in the turn asks for."""
        if not piece.stable and not self.options.partials:
            return
        words = list(piece.words)
        if not words and piece.stable:
            return
        if words:
            bare = words[0].text.lstrip()
            joined = words[0].text if self._turn.mid_utterance else (f" {bare}" if self._turn.context else bare)
            words[0] = SpokenWord(joined, words[0].start, words[0].end, words[0].probability, words[0].tokens)
        if piece.stable:
            self._turn.context.extend(words)
            self._turn.mid_utterance = True
        self._outbox.append(self._text(words, piece))

    def _text(self, words: list[SpokenWord], piece: Piece) -> Text:
        at = [w.start for w in words], [w.end for w in words]
        start, end = (min(at[0]), max(at[1])) if words else (self._turn.tape.end, self._turn.tape.end)
        timed = tuple(
            Word(w.text, w.start // SAMPLES_PER_MS, w.end // SAMPLES_PER_MS, round(w.probability, 3)) for w in words
        )
        return Text(
            self.name,
            self.epoch,
            "".join(word.text for word in words),
            piece.stable,
            start // SAMPLES_PER_MS,
            end // SAMPLES_PER_MS,
            timed if self.options.words else (),
            sum(len(word.tokens) for word in words),
            piece.alternatives,
        )

    def close(self) -> None:
        """The session is over: what it holds in the model is given back."""
        self._closed = True
        self._drop_stream()

    def _drop_stream(self) -> None:
        if self.away is not None:
            self.away.discard()
            self.away = None
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _begin_turn(self) -> None:
        """A fresh turn, with the options that count from now on."""
        self._drop_stream()
        self.options = self._next_options
        self.detector_state = None
        self._turn = Turn(Segmenter(self._segmentation))
