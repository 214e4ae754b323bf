from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sayso.engine.errors import EngineError
from sayso.engine.modules.whisper import Request, Whisper


def _plain(text: str) -> list[str]:
    return re.sub(r"[^\w' ]+", " ", text.lower()).split()


BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."


@pytest.mark.parametrize("name", ["beckett", "two_cities"])
def test_compressed_silence_gives_the_words_of_the_full_window(
    name: str, whisper: Whisper, exact: Whisper, request: pytest.FixtureRequest
) -> None:
    audio = Request(request.getfixturevalue(name))
    assert _plain(whisper.transcribe([audio])[0].text) == _plain(exact.transcribe([audio])[0].text)


def test_real_speech_is_heard_right(whisper: Whisper, beckett: np.ndarray) -> None:
    heard = whisper.transcribe([Request(beckett)])[0]
    assert _plain(heard.text) == _plain(BECKETT)
    assert heard.ended == "end_of_text"
    assert heard.no_speech_probability < 0.5
    assert heard.average_logprob > -0.5


def test_a_batch_gives_what_each_request_gives_alone(whisper: Whisper, two_cities: np.ndarray) -> None:
    prefix = whisper.transcribe([Request(two_cities[:32_000])])[0].words[0].tokens
    requests = [
        Request(two_cities[:32_000]),
        Request(two_cities[160_000:191_000]),
        Request(two_cities[:32_000], prefix=prefix),
        Request(two_cities[80_000:130_000]),
        Request(two_cities[320_000:352_000] * 0.1),
    ]
    together = whisper.transcribe(requests)
    for request, heard in zip(requests, together, strict=True):
        alone = whisper.transcribe([request])[0]
        assert heard.tokens == alone.tokens
        assert [word.start_s for word in heard.words] == [word.start_s for word in alone.words]
        assert heard.average_logprob == pytest.approx(alone.average_logprob, abs=0.05)


def test_decoding_goes_on_after_a_stable_prefix(whisper: Whisper, beckett: np.ndarray) -> None:
    whole = whisper.transcribe([Request(beckett)])[0]
    for count in (1, 4, len(whole.words)):
        prefix = tuple(token for word in whole.words[:count] for token in word.tokens)
        rest = whisper.transcribe([Request(beckett, prefix=prefix)])[0]
        assert prefix + rest.tokens == whole.tokens
        for word, known in zip(rest.words, whole.words[count:], strict=True):
            assert word.start_s == pytest.approx(known.start_s, abs=0.1)


def test_other_texts_are_told_of_a_final_request_that_asks_for_them(whisper: Whisper, beckett: np.ndarray) -> None:
    audio = beckett[:24_000]
    asked = whisper.transcribe([Request(audio, final=True, alternatives=3)])[0]
    texts = [other.text for other in asked.alternatives]
    assert 1 <= len(texts) <= 3
    assert len({*texts, asked.text.strip()}) == len(texts) + 1
    assert [other.behind for other in asked.alternatives] == sorted(other.behind for other in asked.alternatives)
    for request in (Request(audio, final=True), Request(audio, alternatives=3)):
        assert whisper.transcribe([request])[0].alternatives == ()


def test_context_before_the_window_does_not_come_back_as_text(whisper: Whisper, beckett: np.ndarray) -> None:
    context = whisper.text.encode(" Ever tried. Ever failed.")
    heard = whisper.transcribe([Request(beckett[56_000:], context=context)])[0]
    assert _plain(heard.text) == _plain("No matter. Try again. Fail again. Fail better.")


def test_silence_and_noise_are_known_for_no_speech(whisper: Whisper) -> None:
    noise = np.random.default_rng(0).normal(0.0, 0.05, 40_000).astype(np.float32)
    for audio in (np.zeros(40_000, np.float32), noise):
        assert whisper.transcribe([Request(audio)])[0].no_speech_probability > 0.6


def test_a_very_short_window_and_an_empty_one_are_taken(whisper: Whisper) -> None:
    for samples in (0, 1, 160, 3200):
        assert whisper.transcribe([Request(np.zeros(samples, np.float32))])[0].no_speech_probability > 0.5


def test_a_window_that_is_too_long_is_refused(whisper: Whisper) -> None:
    with pytest.raises(EngineError) as caught:
        whisper.transcribe([Request(np.zeros(480_001, np.float32))])
    assert caught.value.code == "audio_too_long"


def test_a_folder_without_a_tokenizer_says_so(tiny_folder: Path, tmp_path: Path) -> None:
    for name in ("model.bin", "config.json"):
        (tmp_path / name).symlink_to(tiny_folder / name)
    with pytest.raises(EngineError, match=r"tokenizer\.json") as caught:
        Whisper.load(tmp_path)
    assert caught.value.code == "model_damaged"


def test_cut_off_weights_say_so(tiny_folder: Path, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).symlink_to(tiny_folder / name)
    (tmp_path / "model.bin").write_bytes((tiny_folder / "model.bin").read_bytes()[:30_000_000])
    with pytest.raises(EngineError, match="cut off") as caught:
        Whisper.load(tmp_path)
    assert caught.value.code == "model_truncated"
