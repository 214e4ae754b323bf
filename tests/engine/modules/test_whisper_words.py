from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sayso.engine.modules.whisper import Request, Whisper

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("name", ["beckett", "two_cities"])
def test_word_times_of_real_speech_are_good_to_a_fifth_of_a_second(
    name: str, whisper: Whisper, request: pytest.FixtureRequest
) -> None:
    known = json.loads((DATA / "words.json").read_text())[name]
    words = whisper.transcribe([Request(request.getfixturevalue(name))])[0].words
    assert len(words) == len(known)
    starts = np.array([abs(word.start_s - start) for word, (_, start, _) in zip(words, known, strict=True)])
    ends = np.array([abs(word.end_s - end) for word, (_, _, end) in zip(words, known, strict=True)])
    assert np.median(starts) <= 0.1
    assert np.median(ends) <= 0.1
    assert np.percentile(starts, 80) <= 0.2
    assert np.percentile(ends, 80) <= 0.2


def test_words_follow_each_other_inside_the_audio(whisper: Whisper, beckett: np.ndarray) -> None:
    words = whisper.transcribe([Request(beckett)])[0].words
    times = [time for word in words for time in (word.start_s, word.end_s)]
    assert times == sorted(times)
    assert 0.0 <= times[0] <= times[-1] <= len(beckett) / 16_000 + 0.02
    assert all(0.0 < word.probability <= 1.0 for word in words)


def test_words_carry_their_text_and_tokens(whisper: Whisper, beckett: np.ndarray) -> None:
    heard = whisper.transcribe([Request(beckett[:80_000])])[0]
    assert tuple(token for word in heard.words for token in word.tokens) == heard.tokens
    assert heard.text == whisper.text.decode(heard.tokens)
    assert all(word.text.startswith(" ") for word in heard.words)
