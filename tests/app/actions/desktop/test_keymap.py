"""The keyboard mapping tells how to get a character, and which keys are free."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.app.actions.desktop.keymap import Keymap, Stroke, borrowed, character_keysym, named_keysym, segments

# Three keys with two groups of two levels, and two keys without a meaning between them.
KEYMAP = Keymap(10, 4, (0x61, 0x41, 0x6C1, 0x6E1, 0, 0, 0, 0, 0xFF0D, 0, 0, 0, 0, 0, 0, 0, 0x32, 0x40, 0x62, 0))


def test_a_character_of_the_first_group_is_one_stroke_with_or_without_shift() -> None:
    assert KEYMAP.stroke(character_keysym("a")) == Stroke(10)
    assert KEYMAP.stroke(character_keysym("A")) == Stroke(10, shift=True)
    assert KEYMAP.stroke(character_keysym("@")) == Stroke(14, shift=True)


def test_a_character_of_another_group_or_of_none_is_no_stroke() -> None:
    assert KEYMAP.stroke(character_keysym("b")) is None
    assert KEYMAP.stroke(character_keysym("€")) is None
    assert KEYMAP.stroke(0) is None


def test_keys_are_found_by_name() -> None:
    assert KEYMAP.key("Return") == Stroke(12)
    assert KEYMAP.key("a") == Stroke(10)
    assert KEYMAP.key("NoSuchKey") is None
    assert named_keysym("Page_Up") == 0xFF55


def test_keys_without_any_meaning_are_spare() -> None:
    assert KEYMAP.spare() == (13, 11)


def test_characters_beyond_latin_1_are_named_by_their_code_point() -> None:
    assert character_keysym("é") == 0xE9
    assert character_keysym("€") == 0x0100_20AC
    assert character_keysym("😀") == 0x0101_F600


def test_only_what_the_layout_lacks_is_borrowed() -> None:
    assert borrowed("aé@é€", KEYMAP, KEYMAP.spare()) == {0xE9: 13, 0x0100_20AC: 11}


@given(st.text(alphabet="aA@éß€漢字かな", max_size=40))
def test_pieces_make_up_the_text_and_need_no_more_than_the_free_keys(text: str) -> None:
    pieces = segments(text, KEYMAP, 2)

    assert "".join(pieces) == text
    for piece in pieces:
        missing = {character for character in piece if KEYMAP.stroke(character_keysym(character)) is None}
        assert len(missing) <= 2
        assert set(borrowed(piece, KEYMAP, KEYMAP.spare())) == {character_keysym(character) for character in missing}
