"""Beam search beside a search without a cache that follows its definition, on the real model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from sayso.engine.modules import whisper as module
from sayso.engine.modules import whisper_window as window
from sayso.engine.modules.whisper import FINAL_GROUP, Request, Whisper
from sayso.engine.modules.whisper_beams import decode_beams
from sayso.engine.modules.whisper_decoding import Batch, Decoded, Prompt, Rules, decode


class Clip:
    """Encoder states of one or more equally long pieces of audio, and how they are to be decoded."""

    def __init__(self, whisper: Whisper, *pieces: np.ndarray, prefix: tuple[int, ...] = (), limit: int = 40) -> None:
        requests = [Request(piece, final=True, prefix=prefix) for piece in pieces]
        shape = window.compressed(Whisper.bucket(requests[0]), FINAL_GROUP)
        self.network, self.rules = whisper._network, whisper._rules_for(requests)
        with torch.inference_mode():
            self.states, self.bias = whisper._encode(requests, shape)
        opening = whisper.text.opening("en")
        self.prompts = [Prompt((*opening, *prefix), 0, len(opening), limit) for _ in pieces]

    @torch.inference_mode()
    def beams(self, count: int) -> list[Decoded]:
        return decode_beams(self.network, self.states, self.bias, self.prompts, self.rules, count)

    @torch.inference_mode()
    def greedy(self) -> list[Decoded]:
        return decode(self.network, self.states, self.bias, self.prompts, self.rules)

    @torch.inference_mode()
    def after(self, tokens: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities after these tokens of the first prompt, and its attention, all computed anew."""
        first = self.prompts[0]
        prompt = Prompt((*first.tokens, *tokens), first.start, first.text, 1)
        batch = Batch(self.network, self.states[:1], self.bias, [prompt], self.rules)
        logits = batch.allowed(batch.prefill(), fresh=True)
        return torch.log_softmax(logits, -1)[0], batch.attention(0, [])


def by_definition(clip: Clip, beams: int) -> tuple[list[int], float]:
    """The text that a beam search ends with, and its average log-probability; every prefix is computed anew."""
    running: list[tuple[list[int], list[float]]] = [([], [])]
    finished: list[tuple[list[int], float]] = []
    while running:
        options = []
        for tokens, logprobs in running:
            best, chosen = clip.after(tokens)[0].topk(2 * beams)
            pairs = zip(chosen.tolist(), best.tolist(), strict=True)
            options += [(tokens, [*logprobs, value], token) for token, value in pairs]
        options.sort(key=lambda option: -sum(option[1]))
        running = []
        for tokens, logprobs, token in options[: 2 * beams]:
            if token == clip.rules.end:
                finished.append((tokens, float(np.mean(logprobs))))
            else:
                running.append(([*tokens, token], logprobs))
            if len(running) == beams:
                break
        best_average = max((average for _, average in finished), default=-np.inf)
        if finished and best_average >= max(float(np.mean(logprobs)) for _, logprobs in running):
            break
    return max(finished, key=lambda text: text[1])


@pytest.mark.parametrize("beams", [2, 4])
def test_it_finds_what_a_search_without_a_cache_finds(exact: Whisper, beckett: np.ndarray, beams: int) -> None:
    for piece in (beckett[:24_000], beckett[30_000:50_000] * 0.05):
        clip = Clip(exact, piece)
        (found,) = clip.beams(beams)
        tokens, average = by_definition(clip, beams)
        assert found.tokens == tokens
        assert found.ended == "end_of_text"
        assert float(np.mean(found.logprobs)) == pytest.approx(average, abs=1e-3)


def test_its_attention_is_that_of_the_text_it_found(exact: Whisper, beckett: np.ndarray) -> None:
    clip = Clip(exact, beckett[30_000:50_000] * 0.05)
    (found,) = clip.beams(4)
    assert found.attention is not None
    torch.testing.assert_close(found.attention, clip.after(found.tokens)[1], atol=1e-4, rtol=1e-3)


def test_one_beam_is_greedy(exact: Whisper, beckett: np.ndarray) -> None:
    clip = Clip(exact, beckett)
    (beam,), (greedy,) = clip.beams(1), clip.greedy()
    assert (beam.tokens, beam.ended) == (greedy.tokens, greedy.ended)
    assert beam.no_speech_probability == greedy.no_speech_probability
    assert beam.logprobs == pytest.approx(greedy.logprobs, abs=1e-4)


def test_what_else_was_followed_is_told_with_its_probability(exact: Whisper, beckett: np.ndarray) -> None:
    clip = Clip(exact, beckett[:24_000])
    (found,) = clip.beams(4)
    assert len(found.others) >= 4
    assert tuple(found.tokens) not in {other.tokens for other in found.others if other.ended}
    other = found.others[0]
    said = [*other.tokens, *([clip.rules.end] if other.ended else [])]
    steps = [float(clip.after(said[:at])[0][token]) for at, token in enumerate(said)]
    assert other.logprob == pytest.approx(sum(steps), abs=0.05)


def test_prompts_together_give_what_each_gives_alone(exact: Whisper, two_cities: np.ndarray) -> None:
    pieces = [two_cities[at : at + 40_000] for at in (0, 90_000, 200_000)]
    together = Clip(exact, *pieces).beams(4)
    for piece, found in zip(pieces, together, strict=True):
        (alone,) = Clip(exact, piece).beams(4)
        assert found.tokens == alone.tokens
        assert found.logprobs == pytest.approx(alone.logprobs, abs=1e-3)


def test_the_rows_of_a_prompt_that_is_through_leave_the_batch(
    exact: Whisper, two_cities: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is through first, in the middle of the batch or at its edge, the others go on as alone."""
    speech = two_cities[:40_000]
    pieces = [np.concatenate([np.zeros(40_000 - n, np.float32), speech[:n]]) for n in (16_000, 40_000, 8_000, 28_000)]
    alone = [Clip(exact, piece).beams(3)[0] for piece in pieces]
    assert len({len(found.tokens) for found in alone}) > 2
    rows: list[int] = []
    advance = Batch.advance

    def counted(batch: Batch, tokens: torch.Tensor) -> torch.Tensor:
        rows.append(len(tokens))
        return advance(batch, tokens)

    monkeypatch.setattr(Batch, "advance", counted)
    together = Clip(exact, *pieces).beams(3)
    assert [found.tokens for found in together] == [found.tokens for found in alone]
    assert (rows[0], rows[-1]) == (4 * 3, 3)
    assert rows == sorted(rows, reverse=True)
    for found, other in zip(together, alone, strict=True):
        assert found.attention is not None
        assert other.attention is not None
        torch.testing.assert_close(found.attention, other.attention, atol=1e-4, rtol=1e-3)


def test_a_text_that_does_not_end_is_cut_at_the_limit(exact: Whisper, beckett: np.ndarray) -> None:
    (found,) = Clip(exact, beckett, limit=5).beams(3)
    assert (len(found.tokens), len(found.logprobs), found.ended) == (5, 5, "limit")


def test_a_stable_prefix_is_gone_on_from(exact: Whisper, beckett: np.ndarray) -> None:
    (whole,) = Clip(exact, beckett).beams(4)
    (rest,) = Clip(exact, beckett, prefix=tuple(whole.tokens[:6])).beams(4)
    assert rest.tokens == whole.tokens[6:]
    assert rest.attention is not None
    assert rest.attention.shape[1] == len(whole.tokens) + 1


def test_a_text_that_goes_round_in_circles_is_cut(exact: Whisper, beckett: np.ndarray) -> None:
    clip = Clip(exact, beckett)
    stop = Rules(**{**vars(clip.rules), "keep": lambda tokens, known, row, attention: 2 if len(tokens) == 4 else None})
    with torch.inference_mode():
        (found,) = decode_beams(clip.network, clip.states, clip.bias, clip.prompts, stop, 3)
    assert (len(found.tokens), len(found.logprobs), found.ended) == (2, 2, "repeated")


def test_only_the_end_of_an_utterance_is_searched(whisper: Whisper, beckett: np.ndarray) -> None:
    hearings: list[int] = []

    def counted(*arguments: object) -> list[Decoded]:
        hearings.append(int(arguments[5]))  # type: ignore[call-overload]
        return decode_beams(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "decode_beams", counted)
        whisper.transcribe([Request(beckett[:32_000])])
        assert hearings == []
        whisper.transcribe([Request(beckett[:32_000], final=True)])
    assert hearings == [module.FINAL_BEAMS]
