from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sayso.ui.text import breakable, listed, one_block, together


def test_long_runs_get_places_to_break() -> None:
    assert breakable("see https://example.org/a/very/long/path now").count("\u200b") >= 2


@given(st.text())
def test_nothing_visible_is_added_or_lost(text: str) -> None:
    assert breakable(text).replace("\u200b", "") == text.replace("\u200b", "")


def test_short_words_are_left_alone() -> None:
    assert breakable("open the window") == "open the window"


def test_paragraph_ends_become_line_ends_inside_the_paragraph() -> None:
    assert one_block("a\nb\r\nc\rd\u2029e") == "a\u2028b\u2028c\u2028d\u2028e"


def test_a_figure_and_its_unit_stay_on_one_line() -> None:
    assert together("430 MB in 2.1 s, 3 servers") == "430\u00a0MB in 2.1\u00a0s, 3 servers"


def test_names_are_listed_as_people_list_them() -> None:
    assert [listed(names) for names in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]
