from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from sayso.engine.errors import EngineError
from sayso.engine.modules.whisper import Request, Whisper
from sayso.engine.modules.whisper_text import WhisperText

SPECIALS = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|de|>",
    "<|ja|>",
    "<|transcribe|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)


@pytest.fixture(scope="module")
def english(tiny_folder: Path) -> WhisperText:
    return WhisperText(tiny_folder)


def _save_multilingual(folder: Path) -> None:
    """A byte-level tokenizer of 256 bytes and the special tokens of a multilingual Whisper."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIALS))
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture
def multilingual(tmp_path: Path) -> WhisperText:
    _save_multilingual(tmp_path)
    return WhisperText(tmp_path)


def test_words_keep_their_space_and_take_the_marks_after_them(english: WhisperText) -> None:
    text = " Open Firefox, please. It's 9:30!"
    words = english.words(english.encode(text))
    assert [word for word, _ in words] == [" Open", " Firefox,", " please.", " It's", " 9:30!"]
    assert english.decode([token for _, tokens in words for token in tokens]) == text


def test_letters_of_many_bytes_stay_whole(multilingual: WhisperText) -> None:
    words = multilingual.words(multilingual.encode(" schön für Käse"), "de")
    assert [word for word, _ in words] == [" schön", " für", " Käse"]


def test_every_token_belongs_to_a_word_even_when_the_text_is_cut(multilingual: WhisperText) -> None:
    tokens = multilingual.encode(" schön ü")[:-1]
    words = multilingual.words(tokens, "de")
    assert [word.strip() for word, _ in words] == ["schön"]
    assert tuple(token for _, piece in words for token in piece) == tokens


def test_languages_without_spaces_give_a_word_for_each_letter(multilingual: WhisperText) -> None:
    assert [word for word, _ in multilingual.words(multilingual.encode("窓を。"), "ja")] == ["窓", "を。"]


def test_an_english_model_is_not_asked_for_a_language(english: WhisperText) -> None:
    assert not english.multilingual
    assert english.languages == ("en",)
    assert english.opening("") == (50257, 50362)
    assert english.end == 50256


def test_a_multilingual_model_is_asked_for_a_language(multilingual: WhisperText) -> None:
    assert multilingual.multilingual
    assert multilingual.languages == ("en", "de", "ja")
    start, language, task, plain = multilingual.opening("de")
    assert (start, plain) == (multilingual.start, multilingual.plain)
    assert multilingual.language_tokens()[language] == "de"
    assert task not in multilingual.language_tokens()


def test_a_tokenizer_without_the_special_tokens_is_refused(tmp_path: Path) -> None:
    Tokenizer(models.BPE(vocab={"a": 0}, merges=[])).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(EngineError) as caught:
        WhisperText(tmp_path)
    assert caught.value.code == "model_damaged"


@pytest.fixture
def random_multilingual(tmp_path: Path) -> Whisper:
    """A multilingual model with random weights, in the layout of transformers."""
    transformers: Any = pytest.importorskip("transformers")
    config = transformers.WhisperConfig(
        vocab_size=256 + len(SPECIALS),
        d_model=16,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        pad_token_id=256,
        bos_token_id=256,
        eos_token_id=256,
        decoder_start_token_id=257,
    )
    transformers.WhisperForConditionalGeneration(config).save_pretrained(tmp_path)
    _save_multilingual(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "whisper"
    return Whisper.load(tmp_path, precision="float32")


def test_the_language_is_found_out_or_taken_as_asked(random_multilingual: Whisper) -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    asked, free = random_multilingual.transcribe([Request(noise, language="ja"), Request(noise)])
    assert asked.language == "ja"
    assert free.language in random_multilingual.languages
    with pytest.raises(EngineError) as caught:
        random_multilingual.transcribe([Request(noise, language="xx")])
    assert caught.value.code == "language_unknown"
