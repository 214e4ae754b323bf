"""Whisper as a streaming recogniser: when to decode, what to decode, and what to make of it.

``WhisperStream`` is the policy over one utterance and pure; ``WhisperRunner`` owns the model and runs batches. Loop
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sayso.engine.errors import EngineError
from sayso.engine.messages import SAMPLE_RATE, Alternative, SessionOptions
from sayso.engine.modules.whisper import Hypothesis, Request, Whisper
from sayso.engine.options import SAMPLES_PER_MS
from sayso.engine.runner.base import Before, Holding, Offer, Piece, SpokenWord, Stream, Utterance
from sayso.engine.runner.evidence import Evidence, Standards, is_speech
from sayso.engine.runner.stability import overlap, sayable, settled, showable
from sayso.engine.runner.window import Window, WindowOptions
from sayso.engine.segmentation import FRAME_MS

if TYPE_CHECKING:
    from sayso.engine.catalog import ModelFiles

BUCKET_SAMPLES = SAMPLE_RATE // 2
"""Requests whose windows round up to the same half second can share a batch."""


@dataclass(frozen=True)
class Pace:
    """When a stream wants to be decoded; times in ms or s as named."""

    step_ms: int = 320
    """New audio between two steps while somebody speaks."""
    first_ms: int = 640
    """Audio before the first step, pre-roll included: less is half a word."""
    margin_ms: int = 240
    """A stable word ends so long before the end of the audio."""
    alone_ms: int = 1500
    """A word that ended so long before the end of the audio is stable without a second hypothesis."""
    edge_ms: int = 100
    edge_probability: float = 0.8
    """A last word that ends so close to the audio's end is shown only when it is as probable as this."""
    partial_slack_s: float = 1.0
    final_slack_s: float = 0.0
    """Texts that end an utterance come first."""


@dataclass(frozen=True)
class Instructions:
    """What a client told the model: text to take as said before, as tokens, and a language (empty: any).

    ``alternatives``: it weighs the texts of short utterances itself, so that those are decoded as a whole, and
    ``expected`` are sentences that it wants to be among them.
    """

    context: tuple[int, ...] = ()
    language: str = ""
    alternatives: bool = False
    expected: tuple[str, ...] = ()


BIAS_TOKENS = 100
"""More expected words than this cost time at every step. 100 instead of 64 took 93 robotic commands from 69 heard
right to 77, for a twelfth more time."""


def instructions(options: SessionOptions, encode: Callable[[str], tuple[int, ...]]) -> Instructions:
    """A client's options as the decoder takes them: expected words look to it like text that was just said."""
    bias: tuple[int, ...] = ()
    for word in options.bias:
        tokens = encode(f" {word.strip().rstrip('.')}.") if word.strip() else ()
        bias += tokens if len(bias) + len(tokens) <= BIAS_TOKENS else ()
    prompt = encode(f" {options.prompt.strip()}") if options.prompt.strip() else ()
    # They are kept as a table of equal rows, so that a single long one would take the room of thousands.
    expected = tuple(text for text in options.expected if len(text) <= LONGEST_EXPECTED)[:MOST_EXPECTED]
    return Instructions(bias + prompt, options.language, options.alternatives, expected)


SHORT_SAMPLES = 5 * SAMPLE_RATE
"""An utterance of up to this length may be a command."""
ALTERNATIVES = 8
MOST_EXPECTED = 4096
"""More sentences than this are not looked for."""
LONGEST_EXPECTED = 120
"""Characters of a sentence; a longer one is not said in so short a turn."""
WINDOW = WindowOptions(longest=14 * SAMPLE_RATE, comfortable=5 * SAMPLE_RATE, keep=3 * SAMPLE_RATE // 2)


class WhisperStream:
    """One utterance: re-decoded every few hundred milliseconds of speech, and at once when it pauses or ends."""

    def __init__(
        self,
        utterance: Utterance,
        before: Before,
        instructions: Instructions | None = None,
        pace: Pace | None = None,
        window: WindowOptions = WINDOW,
        standards: Standards | None = None,
    ) -> None:
        self.utterance = utterance
        self._instructions = instructions or Instructions()
        self._pace = pace or Pace()
        self._standards = standards or Standards()
        self._options = window
        self._window = Window(window, utterance.start, before.words)
        self._decoded_to = utterance.start
        self._hypothesis: tuple[SpokenWord, ...] = ()
        self._alternatives: tuple[Alternative, ...] = ()
        self._final_at: int | None = None
        self._due_since: float | None = None
        self._pieces: list[Piece] = []
        self._shown: tuple[str, ...] = ()
        self._done = False

    @property
    def done(self) -> bool:
        return self._done and not self._pieces

    @property
    def needed_from(self) -> int:
        return self._window.start

    @property
    def behind(self) -> int:
        return max(0, self.utterance.end - self._decoded_to)

    @property
    def holding(self) -> Holding:
        return Holding()

    @property
    def due(self) -> bool:
        return not self._done and self._is_due()

    def offer(self, now: float) -> Offer | None:
        """A final decode when the utterance pauses or ends, else a step when enough was said since the last one."""
        if not self.due:
            self._due_since = None
            return None
        if self._due_since is None:
            self._due_since = now
        final = self._wants_final
        slack = self._pace.final_slack_s if final else self._pace.partial_slack_s
        samples = self._window.end(self.utterance.end) - self._window.start
        return Offer(cost_ms(samples), self._due_since + slack, ("whisper", -(-samples // BUCKET_SAMPLES)))

    def request(self) -> Request:
        """What the decoder shall hear now."""
        start, end = self._window.start, self._window.end(self.utterance.end)
        return Request(
            self.utterance.tape.read(start, end),
            prefix=self._window.prefix,
            final=self._wants_final and end == self.utterance.end,
            context=self._instructions.context + self._window.context,
            language=self._instructions.language,
            alternatives=ALTERNATIVES if self._is_weighed else 0,
            expected=self._instructions.expected,
        )

    def accept(self, hypothesis: Hypothesis, end: int, final: bool) -> None:
        """Take the decoder's answer for audio up to ``end``."""
        self._due_since = None
        self._decoded_to = end
        words = self._words_of(hypothesis, end)
        if not self._supported(hypothesis, words):
            words = ()
        self._advance(words, end)
        self._alternatives = tuple(
            Alternative(each.text, round(each.behind, 2), each.by_language and round(each.by_language, 2))
            for each in hypothesis.alternatives
        )
        if final:
            self._final_at = end

    def take(self) -> list[Piece]:
        """Pieces since the last call; closes the utterance when its final text is known."""
        if self.utterance.ended and not self._done and self._final_at == self.utterance.end:
            self._settle(self._hypothesis, self._alternatives)
            self._hypothesis = ()
            self._done = True
            self._show(())
        pieces, self._pieces = self._pieces, []
        return pieces

    def close(self) -> None:
        """Nothing is held in the model."""

    @property
    def _is_weighed(self) -> bool:
        """Whether the client weighs whole texts, and nothing of this one is stable yet."""
        short = self.utterance.end - self.utterance.start <= SHORT_SAMPLES
        return self._instructions.alternatives and short and not self._window.words

    @property
    def _wants_final(self) -> bool:
        return self.utterance.ended or self.utterance.paused

    def _is_due(self) -> bool:
        utterance = self.utterance
        if self._wants_final:
            return self._final_at != utterance.end
        fresh = utterance.end - self._decoded_to
        if utterance.end - utterance.start < self._pace.first_ms * SAMPLES_PER_MS:
            return False
        return fresh >= self._pace.step_ms * SAMPLES_PER_MS

    def _words_of(self, hypothesis: Hypothesis, end: int) -> tuple[SpokenWord, ...]:
        """The hypothesis on the turn's clock, without what would say stable words again."""
        at = self._window.start
        words = tuple(
            SpokenWord(
                w.text, at + round(w.start_s * SAMPLE_RATE), at + round(w.end_s * SAMPLE_RATE), w.probability, w.tokens
            )
            for w in hypothesis.words
        )
        words = words[overlap(self._window.words, words) :]
        spoken_from = self._window.words[-1].end if self._window.words else at
        return words[: sayable(words, spoken_from, end)]

    def _supported(self, hypothesis: Hypothesis, words: Sequence[SpokenWord]) -> bool:
        """Whether this is speech; once stable words of the utterance are out, it is."""
        if self._window.words or not words:
            return True
        utterance = self.utterance
        return is_speech(
            Evidence(
                utterance.voice,
                utterance.voiced_frames * FRAME_MS,
                hypothesis.no_speech_probability,
                hypothesis.average_logprob,
                len(words),
            ),
            self._standards,
        )

    def _advance(self, words: tuple[SpokenWord, ...], end: int) -> None:
        """Settle what two hypotheses agree on, show the rest, and move the window on."""
        full = end - self._window.start >= self._options.longest
        latest_end = end - self._pace.margin_ms * SAMPLES_PER_MS
        # A full window cannot wait for a second hypothesis: no more audio would come into it. And when steps are
        # far apart, since the machine is busy, waiting for one would make the window longer and every step dearer.
        long_ago = end - self._pace.alone_ms * SAMPLES_PER_MS
        agreed = settled(words if full else self._hypothesis, words, latest_end)
        # What is stable binds the decoder: a whole text could not be told from another one any more.
        count = 0 if self._is_weighed else max(agreed, settled(words, words, long_ago))
        self._settle(words[:count])
        self._hypothesis = words[count:]
        moved = self._window.move(end)
        if full and not moved:
            self._window.skip_to(end - self._options.keep)
        shown = len(words) - count
        if not self._wants_final:
            edge = self._pace.edge_ms * SAMPLES_PER_MS
            shown = showable(self._hypothesis, end, edge, self._pace.edge_probability)
        self._show(self._hypothesis[:shown])

    def _settle(self, words: tuple[SpokenWord, ...], alternatives: tuple[Alternative, ...] = ()) -> None:
        if words:
            self._pieces.append(Piece(words, True, alternatives))
            self._window.commit(words)
            self._shown = ()

    def _show(self, words: tuple[SpokenWord, ...]) -> None:
        """The tentative text, when it is not what is shown already."""
        texts = tuple(word.text for word in words)
        if texts != self._shown:
            self._pieces.append(Piece(words, stable=False))
            self._shown = texts


def cost_ms(samples: int) -> float:
    """About what one decode costs on two slow cores; only its proportions matter."""
    return 40.0 + 14.0 * samples / SAMPLE_RATE


class WhisperRunner:
    """One loaded Whisper."""

    gated = True
    positions_a_second = 50.0
    mapped_bytes = 0

    def __init__(self, model: Whisper, name: str) -> None:
        self._model = model
        self.name = name
        self.languages = model.languages

    @classmethod
    def load(cls, files: ModelFiles, device: str, precision: str = "auto") -> WhisperRunner:
        """The model of a folder. It chooses its number types itself, so ``precision`` must be ``auto``."""
        if precision != "auto":
            raise EngineError("precision_unknown", f"Whisper has no precision {precision!r} here: use auto.")
        return cls(Whisper.load(files.folder, device, parts=files.weights), files.name)

    @property
    def weight_bytes(self) -> int:
        return self._model.weight_bytes

    def warm(self) -> None:
        self._model.transcribe([Request(np.zeros(SAMPLE_RATE, np.float32))])

    def stream(self, utterance: Utterance, options: SessionOptions, before: Before) -> Stream:
        """A stream for one utterance, which is told of the turn's earlier words and of the client's prompt."""
        told = instructions(options, self._model.text.encode)
        if told.alternatives and told.expected:
            # While somebody speaks there is time for it: at the end of the utterance they are there.
            self._model.expect(told.expected)
        return WhisperStream(utterance, before, told)

    def run(self, streams: Sequence[Stream]) -> None:
        heard = [stream for stream in streams if isinstance(stream, WhisperStream)]
        requests = [stream.request() for stream in heard]
        ends = [stream.needed_from + len(request.audio) for stream, request in zip(heard, requests, strict=True)]
        hypotheses = self._model.transcribe(requests)
        for stream, request, end, hypothesis in zip(heard, requests, ends, hypotheses, strict=True):
            stream.accept(hypothesis, end, request.final)
