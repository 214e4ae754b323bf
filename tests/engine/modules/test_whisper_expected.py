"""Sentences that a client expects, on the real model and a human voice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from sayso.engine.modules import whisper_window as window
from sayso.engine.modules.whisper import FINAL_GROUP, Request, Whisper
from sayso.engine.modules.whisper_beams import decode_beams
from sayso.engine.modules.whisper_decoding import Decoded, Other
from sayso.engine.modules.whisper_expected import Beginning, Sentences

SAID, NEAR = "Ever tried. Ever failed.", "Ever tried! Ever failed!"
"""What was said, and what the free search does not follow."""


@pytest.fixture(scope="module")
def said(beckett: np.ndarray) -> np.ndarray:
    return beckett[:42_000]


def test_sentences_that_begin_alike_are_found_together() -> None:
    spelled = {" b a": (2, 1), " a c": (1, 3), " a b": (1, 2), " a": (1,)}
    sentences = Sentences(["b a", "a c", "a", "a b", "a c", ""], lambda text: spelled[text], end=9)
    assert len(sentences) == 4
    assert sentences.after(Beginning((), 0, 4)) == ([1, 2], [0, 3, 4])
    assert sentences.after(Beginning((1,), 0, 3)) == ([2, 3, 9], [0, 1, 2, 3])
    assert sentences.after(Beginning((1, 3), 1, 2)) == ([9], [1, 2])


def test_an_expected_sentence_gets_the_likelihood_that_the_free_search_gives_it(
    whisper: Whisper, said: np.ndarray
) -> None:
    (free,) = _decode(whisper, [said], ())
    texts = {whisper.text.decode(other.tokens).strip(): other for other in free.others if other.ended}
    assert texts
    (found,) = _decode(whisper, [said], tuple(texts))
    assert found.tokens == free.tokens
    assert found.expected
    for other in found.expected:
        assert other.logprob == pytest.approx(texts[whisper.text.decode(other.tokens).strip()].logprob, abs=0.02)


def test_of_thousands_only_those_near_the_sound_are_told(whisper: Whisper, said: np.ndarray) -> None:
    thousands = tuple(
        f"{verb} the {thing} {number}."
        for verb in ("Open", "Close")
        for thing in ("window", "door")
        for number in range(600)
    )
    heard = whisper.transcribe([Request(said, final=True, alternatives=8, expected=(*thousands, NEAR))])[0]
    told = {other.text: other for other in heard.alternatives}
    assert heard.text.strip().startswith("Ever tried")
    assert NEAR in told
    assert not {*thousands} & told.keys()
    assert told[NEAR].behind > 0.0
    assert told[NEAR].by_language is not None


def test_nothing_is_looked_for_where_nothing_is_asked_for(whisper: Whisper, said: np.ndarray) -> None:
    expected = (NEAR,)
    for request in (Request(said, final=True, expected=expected), Request(said, alternatives=8, expected=expected)):
        assert whisper.transcribe([request])[0].alternatives == ()


def test_what_is_found_for_one_does_not_depend_on_the_others_of_the_batch(whisper: Whisper, said: np.ndarray) -> None:
    expected = (NEAR, "Never tried. Ever failed.", SAID)
    together = _decode(whisper, [said * 0.5, said], expected)
    alone = [_decode(whisper, [piece], expected)[0] for piece in (said * 0.5, said)]
    for one, other in zip(together, alone, strict=True):
        assert _told(one.expected) == pytest.approx(_told(other.expected), abs=0.05)


def _told(found: Sequence[Other]) -> dict[tuple[int, ...], float]:
    return {other.tokens: other.logprob for other in found}


@torch.inference_mode()
def _decode(whisper: Whisper, pieces: Sequence[np.ndarray], expected: tuple[str, ...]) -> list[Decoded]:
    requests = [Request(piece, final=True) for piece in pieces]
    shape = window.compressed(Whisper.bucket(requests[0]), FINAL_GROUP)
    states, bias = whisper._encode(requests, shape)
    prompts = [whisper._prompt(request, "en") for request in requests]
    rules = whisper._rules_for(requests)
    wanted = [whisper.expect(expected)] * len(pieces) if expected else []
    return decode_beams(whisper._network, states, bias, prompts, rules, 4, wanted)
