"""A choice counts however it is made: by mouse, key or a screen reader; showing one is not making it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sayso.ui.segments import Choice, Segments
from sayso.ui.theme import Theme


@pytest.fixture
def segments(qtbot: QtBot, qapp: QApplication) -> Segments:
    made = Segments("Mode", (Choice("&One", "the first"), Choice("&Two", "the second")), Theme(qapp))
    qtbot.addWidget(made)
    made.show_choice(0)
    made.show()
    return made


@pytest.fixture
def chosen(segments: Segments) -> list[int]:
    made: list[int] = []
    segments.chosen.connect(made.append)
    return made


def test_a_click_chooses(segments: Segments, chosen: list[int], qtbot: QtBot) -> None:
    qtbot.mouseClick(segments.buttons[1], Qt.MouseButton.LeftButton)
    assert chosen == [1]


def test_a_screen_reader_chooses_by_toggling_without_a_click(segments: Segments, chosen: list[int]) -> None:
    segments.buttons[1].toggle()
    assert chosen == [1]
    assert segments.current() == 1


def test_an_arrow_key_chooses(segments: Segments, chosen: list[int], qtbot: QtBot) -> None:
    segments.buttons[0].setFocus()
    qtbot.keyClick(segments.buttons[0], Qt.Key.Key_Right)
    assert chosen == [1]


def test_showing_a_choice_is_not_making_it(segments: Segments, chosen: list[int]) -> None:
    segments.show_choice(1)
    assert chosen == []
    assert segments.current() == 1


def test_tab_stops_at_the_choice_that_is_shown(segments: Segments) -> None:
    segments.buttons[0].setFocus()
    segments.show_choice(1)
    stops = [button.text() for button in segments.buttons if button.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == ["&Two"]
