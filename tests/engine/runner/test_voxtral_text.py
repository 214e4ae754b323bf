from __future__ import annotations

import pytest
from tiny_voxtral import write_tekken

from sayso.engine.modules.tekken import Tekken
from sayso.engine.runner.voxtral_text import QUIET_TOKENS, VoxtralText
from sayso.engine.runner.voxtral_timeline import Timeline

PAD, WORD, EOS = 32, 33, 2
FAR = 10**9


@pytest.fixture
def text(tmp_path) -> VoxtralText:
    write_tekken(tmp_path / "tekken.json", 20_000)
    return VoxtralText(Tekken.load(tmp_path), Timeline(32, 6))


def byte(value: int | str) -> int:
    return 64 + (ord(value) if isinstance(value, str) else value)


def said(text: VoxtralText, *tokens: int, heard: int = FAR):
    return [piece.words[0] for token in tokens if (piece := text.push(token, 1.0, heard)) is not None]


def test_control_tokens_have_no_text_and_count_with_the_text_that_follows(text) -> None:
    (word,) = said(text, PAD, PAD, WORD, EOS, byte("a"))
    assert word.text == "a"
    assert word.tokens == (PAD, PAD, WORD, EOS, byte("a"))


def test_a_word_lasts_from_its_marker_to_the_end_of_its_token(text) -> None:
    words = said(text, PAD, PAD, WORD, byte("a"), byte("b"), PAD, WORD, byte(" "), byte("c"))
    assert [(w.text, w.start // 1280, w.end // 1280) for w in words] == [
        ("a", 2, 4),
        ("b", 4, 5),
        (" ", 6, 8),
        ("c", 8, 9),
    ]


def test_the_kth_token_ends_at_k_plus_one_times_80_ms(text) -> None:
    words = said(text, *[byte("x")] * 5)
    assert [word.end / 16 for word in words] == [80, 160, 240, 320, 400]


def test_no_time_is_beyond_what_was_heard(text) -> None:
    (word,) = said(text, PAD, PAD, PAD, byte("a"), heard=2000)
    assert word.start <= word.end == 2000


def test_a_character_over_several_steps_comes_whole_and_counts_all_its_tokens(text) -> None:
    *parts, last = "€".encode()
    assert said(text, *(byte(part) for part in parts)) == []
    (word,) = said(text, byte(last))
    assert (word.text, len(word.tokens)) == ("€", 3)


def test_a_text_starts_without_a_space_and_keeps_the_later_ones(text) -> None:
    words = said(text, byte(" "), byte(" "), byte("a"), byte(" "), byte("b"))
    assert "".join(word.text for word in words) == "a b"


def test_a_long_silence_says_how_far_it_was_heard(text) -> None:
    (word,) = said(text, *[PAD] * QUIET_TOKENS)
    assert (word.text, word.end) == ("", QUIET_TOKENS * 1280)
    assert len(word.tokens) == QUIET_TOKENS


def test_the_end_gives_out_a_cut_off_character_and_the_last_tokens(text) -> None:
    said(text, byte(0xE2), PAD)
    piece = text.finish(FAR)
    assert piece is not None
    assert piece.text == "\ufffd"
    assert len(piece.words[0].tokens) == 2
    assert text.finish(FAR) is None
