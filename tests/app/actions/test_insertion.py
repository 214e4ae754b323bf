"""How text goes into a window is decided by its length, its characters and the window alone."""

from __future__ import annotations

import pytest

from sayso.app.actions.desktop.base import Chord, Window
from sayso.app.actions.insertion import TYPED_MOST, Way, backspaces, clean, needs_space, plan

EDITOR = Window(1, "Notes", "mousepad", "Mousepad")
XTERM = Window(2, "shell", "xterm", "XTerm")
CONSOLE = Window(3, "shell", "konsole", "konsole")
EMACS = Window(4, "*scratch*", "emacs", "Emacs")


def ascii_layout(text: str) -> bool:
    return text.isascii()


@pytest.mark.parametrize(
    ("text", "way", "reason"),
    [
        ("hello world", Way.TYPE, "short"),
        ("x" * TYPED_MOST, Way.TYPE, "short"),
        ("x" * (TYPED_MOST + 1), Way.PASTE, "longer"),
        ("naïve", Way.PASTE, "layout"),
        ("two\nlines", Way.PASTE, "line ends"),
        ("a\ttab", Way.PASTE, "tabs"),
    ],
)
def test_short_text_that_the_layout_has_is_typed_and_all_other_is_pasted(text: str, way: Way, reason: str) -> None:
    decided = plan(text, EDITOR, ascii_layout)
    assert decided.way is way
    assert reason in decided.reason


@pytest.mark.parametrize(
    ("window", "chord", "primary"),
    [
        (EDITOR, Chord(("control",), "v"), False),
        (CONSOLE, Chord(("control", "shift"), "v"), False),
        (XTERM, Chord(("shift",), "Insert"), True),
        (EMACS, Chord(("shift",), "Insert"), True),
        (Window(5), Chord(("control",), "v"), False),
    ],
)
def test_each_kind_of_window_is_pasted_into_by_its_own_keys(window: Window, chord: Chord, primary: bool) -> None:
    decided = plan("für", window, ascii_layout)
    assert (decided.chord, decided.primary) == (chord, primary)


@pytest.mark.parametrize(
    ("text", "in_editor", "in_terminal"),
    [
        ("two\r\nlines\rand\n", "two\nlines\nand\n", "two lines and"),
        ("a\tb", "a\tb", "a b"),
        ("bell\a and escape\x1b[31m", "bell and escape[31m", "bell and escape[31m"),
        ("e\u0301", "é", "é"),
        ("👩\u200d👧 \U0001fae8", "👩\u200d👧 \U0001fae8", "👩\u200d👧 \U0001fae8"),
        ("lone \ud800 and \ufffe", "lone  and ", "lone and"),
    ],
)
def test_text_is_made_safe_for_its_window(text: str, in_editor: str, in_terminal: str) -> None:
    assert clean(text, EDITOR) == in_editor
    assert clean(text, XTERM) == in_terminal


@pytest.mark.parametrize(
    ("before", "text", "space"),
    [
        ("Hello.", "How", True),
        ("(", "in", False),
        ("so", ", then", False),
        ("", "first", False),
        ("line\n", "x", False),
        ("wide\u00a0", "x", False),
        ("so", "%", False),
        ("«", "ja", False),
        ("ja", "»", False),
        ("well", "…", False),
        ("日本", "語", False),
        ("ไทย", "ไทย", False),
        ("한국어", "한국어", True),
        ("good morning", "everyone", True),
    ],
)
def test_texts_are_set_apart_where_a_space_belongs(before: str, text: str, space: bool) -> None:
    assert needs_space(before, text) is space


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("plain", 5),
        ("Straße 日本 😀", 11),
        ("two\nlines", 9),
        ("👩\u200d👧", None),
        ("x\u0301", None),
        ("🇩🇪", None),
        ("👍🏽", None),
        ("\u0928\u093f", None),
        ("\u1112\u1161", None),
    ],
)
def test_text_is_counted_for_backspaces_only_where_all_programs_agree(text: str, count: int | None) -> None:
    assert backspaces(text) == count
