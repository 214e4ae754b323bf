from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.ui.text import breakable, one_block


def test_long_runs_get_places_to_break() -> None:
    assert breakable("see https://example.org/a/very/long/path now").count("\u200b") >= 2


@given(st.text())
def test_nothing_visible_is_added_or_lost(text: str) -> None:
    assert breakable(text).replace("\u200b", "") == text.replace("\u200b", "")


def test_short_words_are_left_alone() -> None:
    assert breakable("open the window") == "open the window"


def test_paragraph_ends_become_line_ends_inside_the_paragraph() -> None:
    assert one_block("a\nb\r\nc\rd\u2029e") == "a\u2028b\u2028c\u2028d\u2028e"
