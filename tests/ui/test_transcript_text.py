"""Choosing, copying and typing again what stands in the transcript, by mouse, menu and keyboard."""

from __future__ import annotations

import pytest
import scenes
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sayso.app.snapshot import LineKind
from sayso.ui.theme import Theme
from sayso.ui.transcript_text import TranscriptText

SPOKEN = [line.stable for line in scenes.LINES]


@pytest.fixture
def text(qtbot: QtBot, theme: Theme) -> TranscriptText:
    result = TranscriptText(theme)
    qtbot.addWidget(result)
    result.resize(500, 300)
    with qtbot.waitExposed(result):
        result.show()
    result.show_lines(scenes.LINES)
    QGuiApplication.clipboard().clear()
    return result


def click(text: TranscriptText, line: int) -> None:
    place = text.cursorRect(QTextCursor(text.document().findBlockByNumber(line))).center() + QPoint(60, 0)
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=place)


def copied() -> str:
    return QGuiApplication.clipboard().text()


def test_without_a_choice_the_newest_words_are_meant(text: TranscriptText) -> None:
    text.show_lines((*scenes.LINES, scenes.line(9, "", " not yet", LineKind.OPEN)))
    text.copy_chosen()
    assert copied() == SPOKEN[-1]


def test_a_line_is_chosen_with_the_mouse_and_stays_chosen_while_others_come(text: TranscriptText) -> None:
    click(text, 1)
    text.show_lines((*scenes.LINES[1:], scenes.line(9, "and more")))
    text.copy_chosen()
    assert copied() == SPOKEN[1]
    assert len(text.extraSelections()) == 1


def test_a_line_is_chosen_and_copied_with_the_keyboard(text: TranscriptText) -> None:
    text.setFocus()
    QTest.keyClick(text, Qt.Key.Key_Up)
    QTest.keyClick(text, Qt.Key.Key_Up)
    QTest.keyClick(text, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied() == SPOKEN[-3]


def test_a_selection_over_lines_gives_the_words_without_times_and_outcomes(text: TranscriptText) -> None:
    text.selectAll()
    text.copy_chosen()
    assert copied().splitlines() == SPOKEN


def test_a_selection_inside_a_line_gives_just_that(text: TranscriptText) -> None:
    text.setTextCursor(text.document().find("train times"))
    text.copy_chosen()
    assert copied() == "train times"


def test_the_whole_transcript_is_copied_a_line_an_utterance(text: TranscriptText) -> None:
    text.copy_all()
    assert copied().splitlines() == SPOKEN


def test_the_menu_copies_and_types_again(qtbot: QtBot, text: TranscriptText) -> None:
    click(text, 0)
    copy, copy_all, again = text.menu().actions()
    copy.trigger()
    assert copied() == SPOKEN[0]
    copy_all.trigger()
    assert copied().splitlines() == SPOKEN
    with qtbot.waitSignal(text.insert_wanted) as wanted:
        again.trigger()
    assert wanted.args == [SPOKEN[0]]


def test_words_of_several_lines_are_typed_on_one(qtbot: QtBot, text: TranscriptText) -> None:
    text.selectAll()
    with qtbot.waitSignal(text.insert_wanted) as wanted:
        text.insert_chosen()
    assert wanted.args == [" ".join(SPOKEN)]


def test_an_empty_transcript_copies_and_types_nothing(qtbot: QtBot, text: TranscriptText) -> None:
    text.show_lines(())
    with qtbot.assertNotEmitted(text.insert_wanted):
        text.insert_chosen()
    text.copy_chosen()
    text.copy_all()
    assert copied() == ""
    assert not any(action.isEnabled() for action in text.menu().actions())
