"""Tokenizers of model folders: text to tokens and the bytes of each token, of both kinds in use."""

from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from sayso.engine.detokenizer import Detokenizer
from sayso.engine.errors import EngineError
from sayso.engine.tokenizer import FolderTokenizer, folder_tokenizer

TEXTS = ["the cat sat on the mat", "naïve café 🙂 über", "  two  spaces\nand a line"]


@pytest.fixture(params=["byte level", "sentence piece"])
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> FolderTokenizer:
    if request.param == "byte level":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        special = ["<s>", "</s>"]
        made.train_from_iterator(
            TEXTS[:1] * 3, trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
        )
    else:
        pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁thecasonm", "▁t", "he"]
        vocabulary = {piece: at for at, piece in enumerate(pieces)}
        made = Tokenizer(models.BPE(vocabulary, [("▁", "t"), ("h", "e")], unk_token="<unk>", byte_fallback=True))
        made.normalizer = normalizers.Replace(" ", "▁")
        made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
        made.add_special_tokens(["<s>", "</s>"])
    ids = [(name, made.token_to_id(name)) for name in ("<s>", "</s>")]
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=ids)
    made.add_tokens([AddedToken("<tool>", special=False)])
    made.save(str(tmp_path / "tokenizer.json"))
    found = folder_tokenizer(tmp_path)
    assert found is not None
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_the_bytes_of_a_text_s_tokens_are_the_text(tokenizer: FolderTokenizer, text: str) -> None:
    detokenizer = Detokenizer(tokenizer.piece)
    pieces = [detokenizer.push(token) for token in tokenizer.encode(text, first=False)]
    assert "".join(pieces) + detokenizer.finish() == text


def test_a_text_begins_with_the_model_s_own_beginning_and_is_not_closed(tokenizer: FolderTokenizer) -> None:
    first, later = (tokenizer.encode("the cat", first=first) for first in (True, False))
    assert first[1:] == later
    assert tokenizer.piece(first[0]) == b""


def test_a_text_without_tokens_of_its_own_still_has_its_beginning(tokenizer: FolderTokenizer) -> None:
    [only] = tokenizer.encode("", first=True)
    assert tokenizer.piece(only) == b""
    assert tokenizer.encode("", first=False) == []


def test_special_tokens_have_no_text_and_added_words_have_theirs(tokenizer: FolderTokenizer) -> None:
    [tool] = tokenizer.encode("<tool>", first=False)
    assert tokenizer.piece(tool) == b"<tool>"
    assert tokenizer.piece(100_000) == b""


def test_a_folder_without_a_tokenizer_has_none(tmp_path: Path) -> None:
    assert folder_tokenizer(tmp_path) is None


def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EngineError) as caught:
        folder_tokenizer(tmp_path)
    assert caught.value.code == "bad_tokenizer"
    assert str(tmp_path) in str(caught.value)
