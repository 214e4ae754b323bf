from __future__ import annotations

import json

import pytest
from tiny_voxtral import write_tekken

from sayso.engine.errors import EngineError
from sayso.engine.modules.tekken import Tekken, Utf8Text


@pytest.fixture
def folder(tmp_path):
    write_tekken(tmp_path / "tekken.json", 1000, delay_ms=960)
    return tmp_path


def test_pieces_are_the_bytes_after_the_special_ids(folder) -> None:
    tekken = Tekken.load(folder)
    assert len(tekken) == 1000
    assert [tekken.piece(64 + value) for value in (0, 65, 255)] == [b"\x00", b"A", b"\xff"]
    assert tekken.piece(64 + 256) == b" aa"


def test_control_tokens_and_ids_beyond_the_vocabulary_have_no_bytes(folder) -> None:
    tekken = Tekken.load(folder)
    assert (tekken.bos, tekken.eos, tekken.pad, tekken.word) == (1, 2, 32, 33)
    assert [tekken.piece(token) for token in (1, 2, 32, 33, 63, 1000, 10**6)] == [b""] * 7


def test_it_agrees_with_mistral_common(folder) -> None:
    pytest.importorskip("mistral_common")
    from mistral_common.tokens.tokenizers.tekken import SpecialTokenPolicy, Tekkenizer

    theirs, ours = Tekkenizer.from_file(folder / "tekken.json"), Tekken.load(folder)
    tokens = [32, 33, 64 + 72, 400, 500, 32, 2, 700]
    expected = theirs.decode(tokens, special_token_policy=SpecialTokenPolicy.IGNORE)
    assert b"".join(ours.piece(token) for token in tokens).decode() == expected
    settings = theirs.audio
    assert settings is not None
    assert ours.audio.delay_ms == settings.transcription_delay_ms
    assert ours.audio.left_pad == settings.streaming_n_left_pad_tokens


def test_a_missing_file_and_a_damaged_one_are_told_apart(tmp_path) -> None:
    with pytest.raises(EngineError) as missing:
        Tekken.load(tmp_path)
    assert missing.value.code == "model_not_found"
    for content in ("{", json.dumps({"config": {}})):
        (tmp_path / "tekken.json").write_text(content)
        with pytest.raises(EngineError) as damaged:
            Tekken.load(tmp_path)
        assert damaged.value.code == "model_damaged"


def test_a_character_comes_out_when_its_last_byte_does() -> None:
    text = Utf8Text()
    assert [text.push(bytes([byte])) for byte in "é€😀a".encode()] == ["", "é", "", "", "€", "", "", "", "😀", "a"]
    assert not text.pending


def test_bytes_that_are_no_text_become_the_replacement_character() -> None:
    text = Utf8Text()
    assert text.push(b"\xff") == "\ufffd"
    assert text.push(b"\xe2\x82") == ""
    assert text.pending
    assert text.push(b"a") == "\ufffda"
    text.push(b"\xf0\x9f")
    assert text.finish() == "\ufffd"
