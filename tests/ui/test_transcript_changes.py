from __future__ import annotations

import itertools
from dataclasses import replace

import scenes
from hypothesis import given
from hypothesis import strategies as st

from sayso.app.snapshot import Line
from sayso.ui.transcript_changes import changes, common_prefix

MANY = tuple(scenes.line(number, f"sentence {number}") for number in range(10_000))


def apply(old: tuple[Line, ...], new: tuple[Line, ...]) -> tuple[Line, ...]:
    work = changes(old, new)
    lines = list(old[work.dropped :])
    for index, line in work.changed:
        if index < len(lines):
            lines[index] = line
        else:
            assert index == len(lines)
            lines.append(line)
    return tuple(lines[: work.length])


def test_nothing_changed_is_no_work() -> None:
    assert changes(MANY, tuple(MANY)).changed == ()


def test_a_growing_line_is_one_change_among_ten_thousand() -> None:
    grown = replace(MANY[-1], stable="sentence 9999 and more")
    assert changes(MANY, (*MANY[:-1], grown)).changed == ((9_999, grown),)


def test_a_line_that_leaves_at_the_front_leaves_the_others_alone() -> None:
    added = scenes.line(20_000, "new")
    work = changes(MANY, (*MANY[1:], added))
    assert work.dropped == 1
    assert work.changed == ((9_999, added),)


def test_the_outcome_of_an_older_line_is_seen() -> None:
    marked = replace(MANY[500], stable="other")
    assert changes(MANY, (*MANY[:500], marked, *MANY[501:])).changed == ((500, marked),)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Line, ...]]:
    lines: tuple[Line, ...] = ()
    history, number = [lines], 0
    for step in draw(st.lists(st.sampled_from(["add", "grow", "drop", "remove", "mark", "clear"]), max_size=40)):
        at = draw(st.integers(0, max(0, len(lines) - 1)))
        if step == "add":
            number += 1
            lines = (*lines, scenes.line(number, f"words {number}"))
        elif step == "clear":
            lines = ()
        elif lines and step == "grow":
            lines = (*lines[:-1], replace(lines[-1], stable=lines[-1].stable + " x", tentative=" y"))
        elif lines and step == "drop":
            lines = lines[at:]
        elif lines and step == "remove":
            lines = lines[:at] + lines[at + 1 :]
        elif lines and step == "mark":
            lines = (*lines[:at], replace(lines[at], lost_ms=1000), *lines[at + 1 :])
        history.append(lines)
    return history


@given(histories())
def test_the_changes_always_lead_from_the_old_lines_to_the_new(history: list[tuple[Line, ...]]) -> None:
    for old, new in itertools.pairwise(history):
        assert apply(old, new) == new


@given(st.text(), st.text(), st.text())
def test_the_common_prefix_is_the_longest(shared: str, one: str, other: str) -> None:
    first, second = shared + one, shared + other
    length = common_prefix(first, second)
    assert first[:length] == second[:length]
    assert length == min(len(first), len(second)) or first[length] != second[length]
