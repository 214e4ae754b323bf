"""Whisper on windows of the audio's own length: batched transcripts with word times and probabilities.

``Whisper`` owns the weights of one model folder and runs on the thread that calls it. Requests of about equal length
share a batch (``bucket``); what a request gives does not depend on those it shares a batch with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from sayso.engine.errors import EngineError
from sayso.engine.modules import whisper_window as window
from sayso.engine.modules.int8 import int8_is_faster
from sayso.engine.modules.log_mel import SAMPLE_RATE, LogMel
from sayso.engine.modules.whisper_beams import decode_beams
from sayso.engine.modules.whisper_decoding import Decoded, Ending, Other, Prompt, Rules, decode
from sayso.engine.modules.whisper_expected import Sentences
from sayso.engine.modules.whisper_network import EDGE_POSITIONS, Build, Network, float_build, int8_build
from sayso.engine.modules.whisper_shape import MAX_POSITIONS
from sayso.engine.modules.whisper_stopping import Stopping, compression_ratio
from sayso.engine.modules.whisper_text import WhisperText
from sayso.engine.modules.whisper_unheard import Unheard
from sayso.engine.modules.whisper_weights import Weights, open_weights
from sayso.engine.modules.whisper_window import Window
from sayso.engine.modules.whisper_words import HeardWord, sound_positions, timed

MAX_WINDOW_S = 30.0
STEP_GROUP, FINAL_GROUP, WHOLE = 12, 6, 1
"""Silent positions that one of them stands for (see ``whisper_window``): while the speaker goes on, at the end, and for
a second hearing of an end that came out as a text that goes round in circles."""
FINAL_BEAMS = 4
"""Texts that are followed at the end, where there is time to take back a likely word for a likelier sentence."""
_CIRCULAR_COMPRESSION = 2.4
_TOKENS_A_SECOND = 8
_TOKENS_AT_LEAST = 12
_CONTEXT_SHARE = 2
_SENTENCE_ENDS = frozenset(".?!")
_MOST_EXPECTED_TOLD = 6
_KEPT_EXPECTED = 4
"""Sets of expected sentences that are kept as tokens: some tens of kilobytes for each thousand."""


@dataclass(frozen=True)
class Request:
    """One utterance's window: ``audio`` is float32 mono at 16 kHz, at most 30 s.

    ``prefix`` holds tokens that are stable already, the decoder goes on after them; ``context`` holds tokens said
    before this window. ``final`` asks for the best quality. ``language`` is an ISO-639-1 code, or empty: then a
    multilingual model finds it out. ``alternatives`` is how many other texts to tell of a final request, and
    ``expected`` are sentences that are told among them where they are nearly as likely.
    """

    audio: np.ndarray
    prefix: tuple[int, ...] = ()
    final: bool = False
    context: tuple[int, ...] = ()
    language: str = ""
    alternatives: int = 0
    expected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """Another text for the same audio; ``behind``: natural logarithm of how much likelier the chosen text is.

    ``by_language`` is the same for a decoder that hears nothing; None where nothing that is expected is near.
    """

    text: str
    behind: float
    by_language: float | None = None


@dataclass(frozen=True)
class Hypothesis:
    """What was heard after the request's prefix; ``ended`` tells why it ends: all but ``end_of_text`` are cuts."""

    tokens: tuple[int, ...]
    words: tuple[HeardWord, ...]
    average_logprob: float
    no_speech_probability: float
    ended: Ending
    language: str = "en"
    alternatives: tuple[Alternative, ...] = ()
    """The likeliest first."""

    @property
    def text(self) -> str:
        return "".join(word.text for word in self.words)


class Whisper:
    """A loaded model. Make one with ``Whisper.load``."""

    sample_rate = SAMPLE_RATE
    max_window_s = MAX_WINDOW_S

    def __init__(self, network: Network, text: WhisperText, device: torch.device, exact: bool) -> None:
        self._network, self.text, self.device, self._exact = network, text, device, exact
        self._mel = LogMel(network.shape.mel_bands, device)
        self.weight_bytes = network.weight_bytes()
        shape = network.shape
        specials = range(text.end + 1, shape.vocabulary)
        barred = self._barred({*specials, *shape.suppressed}), self._barred(shape.suppressed_first)
        self._suppressed, self._suppressed_first = barred
        self._expected: dict[tuple[str, ...], Sentences] = {}
        self._unheard = Unheard(network, Rules(text.end, text.no_speech, *barred, lambda *_: None))

    @classmethod
    def load(
        cls,
        folder: Path,
        device: str = "cpu",
        precision: str = "auto",
        exact: bool = False,
        parts: Sequence[Path] = (),
    ) -> Whisper:
        """Load the model in ``folder`` (CTranslate2's or transformers' layout).

        ``parts`` are the files that its ``model.bin`` was cut into, where they lie elsewhere.

        ``precision`` is ``float32``, ``int8`` (CPU), ``float16`` (GPU) or ``auto``: the fastest that keeps the words.
        ``exact`` encodes the whole 30 s window and decodes it greedily, for comparison. Raises EngineError ``model_*``.
        """
        with torch.inference_mode():
            place = torch.device(device)
            network = Network(_build(open_weights(folder, parts), place, precision)).eval().to(place)
            return cls(network, WhisperText(folder), place, exact)

    @property
    def languages(self) -> tuple[str, ...]:
        return self.text.languages

    @staticmethod
    def bucket(request: Request) -> int:
        """Requests with an equal value fill one batch without padding."""
        return window.bucket(len(request.audio))

    @torch.inference_mode()
    def transcribe(self, requests: Sequence[Request]) -> list[Hypothesis]:
        """Transcribe all requests; those of one bucket are encoded and decoded together.

        Raises EngineError ``audio_too_long`` or ``language_unknown``.
        """
        for request in requests:
            self._check(request)
        heard = self._hear(requests, [FINAL_GROUP if request.final else STEP_GROUP for request in requests])
        circular = [index for index, request in enumerate(requests) if request.final and _is_circular(heard[index])]
        if circular and not self._exact:
            again = self._hear([requests[index] for index in circular], [WHOLE] * len(circular))
            for index, second in zip(circular, again, strict=True):
                heard[index] = max(heard[index], second, key=_trust)
        return heard

    def _hear(self, requests: Sequence[Request], groups: Sequence[int]) -> list[Hypothesis]:
        """One pass over the requests, those of one bucket and one grouping of the silence together."""
        batches: dict[tuple[int, int], list[int]] = {}
        for index, (request, group) in enumerate(zip(requests, groups, strict=True)):
            batches.setdefault((self.bucket(request), WHOLE if self._exact else group), []).append(index)
        results: dict[int, Hypothesis] = {}
        for (dense, group), members in batches.items():
            batch = [requests[index] for index in members]
            results.update(zip(members, self._hear_batch(batch, window.compressed(dense, group)), strict=True))
        return [results[index] for index in range(len(requests))]

    def _check(self, request: Request) -> None:
        if len(request.audio) > MAX_WINDOW_S * SAMPLE_RATE:
            raise EngineError("audio_too_long", f"A window holds at most {MAX_WINDOW_S:.0f} s of audio.")
        if request.language and self.text.multilingual and request.language not in self.text.languages:
            raise EngineError("language_unknown", f"This model does not know the language {request.language!r}.")

    def _hear_batch(self, batch: Sequence[Request], shape: Window) -> list[Hypothesis]:
        states, bias = self._encode(batch, shape)
        languages = self._languages_of(batch, states, bias)
        prompts = [self._prompt(request, language) for request, language in zip(batch, languages, strict=True)]
        rules = self._rules_for(batch)
        if self._exact or not batch[0].final:
            rows = decode(self._network, states, bias, prompts, rules)
        else:
            expected = [self._sentences(request) for request in batch]
            rows = decode_beams(self._network, states, bias, prompts, rules, FINAL_BEAMS, expected)
        return [
            self._hypothesis(request, row, language, self._alternatives(request, row, prompt))
            for request, row, language, prompt in zip(batch, rows, languages, prompts, strict=True)
        ]

    def _encode(self, batch: Sequence[Request], shape: Window) -> tuple[torch.Tensor, torch.Tensor | None]:
        """States [batch, positions, width] of the batch's audio, and the weight of each position for attention."""
        whole = shape.length == MAX_POSITIONS
        length = MAX_POSITIONS if whole else shape.dense + EDGE_POSITIONS
        samples = np.zeros((len(batch), length * window.SAMPLES_A_POSITION), np.float32)
        for row, request in zip(samples, batch, strict=True):
            row[: len(request.audio)] = request.audio
        encoder = self._network.encoder
        mel = self._mel(torch.from_numpy(samples).to(self.device)).to(encoder.positions.dtype)
        positions = torch.from_numpy(shape.positions()).to(self.device)
        bias = None if whole else torch.from_numpy(shape.log_sizes()).to(self.device, mel.dtype)
        return encoder(mel, positions, shape.dense, bias), bias

    def _languages_of(self, batch: Sequence[Request], states: torch.Tensor, bias: torch.Tensor | None) -> list[str]:
        """Each request's language: as asked for, or the likeliest of all by the token after the opening one."""
        if not self.text.multilingual:
            return ["en"] * len(batch)
        unknown = [index for index, request in enumerate(batch) if not request.language]
        languages = [request.language for request in batch]
        if unknown:
            tokens = self.text.language_tokens()
            others = self._barred(set(range(self._network.shape.vocabulary)) - set(tokens))
            rules = Rules(self.text.end, self.text.no_speech, others, others, lambda *_: None)
            prompt = Prompt((self.text.start,), 0, 1, 1)
            rows = decode(self._network, states[unknown], bias, [prompt] * len(unknown), rules)
            for index, row in zip(unknown, rows, strict=True):
                languages[index] = tokens[row.tokens[0]]
        return languages

    def _prompt(self, request: Request, language: str) -> Prompt:
        most = self._network.shape.max_tokens
        context = request.context[-(most // _CONTEXT_SHARE - 1) :] if request.context else ()
        before = (self.text.previous, *context) if context else ()
        opening = self.text.opening(language)
        tokens = (*before, *opening, *request.prefix)
        seconds = len(request.audio) / SAMPLE_RATE
        limit = min(int(seconds * _TOKENS_A_SECOND) + _TOKENS_AT_LEAST, most - len(tokens) - 1)
        return Prompt(tokens, len(before), len(before) + len(opening), max(0, limit))

    def _hypothesis(
        self, request: Request, row: Decoded, language: str, alternatives: tuple[Alternative, ...]
    ) -> Hypothesis:
        assert row.attention is not None
        return Hypothesis(
            tokens=tuple(row.tokens),
            words=timed(self.text.words(row.tokens, language), row.logprobs, row.attention, request.audio),
            average_logprob=float(np.mean(row.logprobs)) if row.logprobs else 0.0,
            no_speech_probability=row.no_speech_probability,
            ended=row.ended,
            language=language,
            alternatives=alternatives,
        )

    def _alternatives(self, request: Request, row: Decoded, prompt: Prompt) -> tuple[Alternative, ...]:
        """Whole texts beside the chosen one: those that ended or lack nothing but their end, and expected ones.

        How likely they are by language alone is computed only where something is expected and near.
        """
        if not request.alternatives:
            return ()
        told = self._whole(row, row.others, request.alternatives)
        expected = self._whole(row, row.expected, _MOST_EXPECTED_TOLD)
        found = sorted((told | expected).items(), key=lambda pair: -pair[1].logprob)
        by_language: Sequence[float | None] = [None] * len(found)
        if expected and row.tokens:
            own, *rest = self._unheard.score(prompt, [tuple(row.tokens), *(other.tokens for _, other in found)])
            by_language = [own - each for each in rest]
        total = sum(row.logprobs)
        return tuple(
            Alternative(text, total - other.logprob, unheard)
            for (text, other), unheard in zip(found, by_language, strict=True)
        )

    def _whole(self, row: Decoded, others: Sequence[Other], most: int) -> dict[str, Other]:
        """The likeliest of them by their text, but for those that are cut or are the chosen one."""
        chosen = self.text.decode(row.tokens).strip()
        found: dict[str, Other] = {}
        for other in sorted(others, key=lambda other: -other.logprob):
            text = self.text.decode(other.tokens).strip()
            if text and text != chosen and (other.ended or text[-1] in _SENTENCE_ENDS):
                found.setdefault(text, other)
        return dict(list(found.items())[:most])

    def _sentences(self, request: Request) -> Sentences | None:
        """What is expected, where it is to be told."""
        if not request.alternatives or not request.expected:
            return None
        return self.expect(request.expected)

    def expect(self, texts: tuple[str, ...]) -> Sentences:
        """Sentences as they are looked for. Those used last are kept: clients expect the same from turn to turn."""
        sentences = self._expected.pop(texts, None) or Sentences(texts, self.text.encode, self.text.end)
        self._expected[texts] = sentences
        while len(self._expected) > _KEPT_EXPECTED:
            del self._expected[next(iter(self._expected))]
        return sentences

    def _rules_for(self, batch: Sequence[Request]) -> Rules:
        stopping = Stopping(self.text.decode, [sound_positions(request.audio) for request in batch])
        return Rules(self.text.end, self.text.no_speech, self._suppressed, self._suppressed_first, stopping.keep)

    def _barred(self, tokens: Iterable[int]) -> torch.Tensor:
        """What to add to logits [vocabulary] so that none of the tokens can be chosen; numbers outside are skipped."""
        vocabulary = self._network.shape.vocabulary
        barred = torch.zeros(vocabulary, device=self.device)
        barred[[token for token in tokens if 0 <= token < vocabulary]] = -torch.inf
        return barred


def _is_circular(heard: Hypothesis) -> bool:
    return heard.ended != "end_of_text" or compression_ratio(heard.text) > _CIRCULAR_COMPRESSION


def _trust(heard: Hypothesis) -> tuple[bool, float]:
    return not _is_circular(heard), heard.average_logprob


def _build(weights: Weights, device: torch.device, precision: str) -> Build:
    if precision == "auto":
        precision = "float16" if device.type == "cuda" else "int8" if _int8(device) else "float32"
    if precision == "int8":
        return int8_build(weights)
    return float_build(weights, torch.float16 if precision == "float16" else torch.float32)


def _int8(device: torch.device) -> bool:
    return device.type == "cpu" and int8_is_faster()
