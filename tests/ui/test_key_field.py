"""The field that takes the next key: any key but Esc is the choice, and Tab is one, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sayso.ui.key_field import KeyField

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


class Stage:
    def __init__(self) -> None:
        self.window = QWidget()
        self.field, self.other = KeyField(), QLineEdit()
        layout = QVBoxLayout(self.window)
        layout.addWidget(self.field)
        layout.addWidget(self.other)
        self.chosen: list[str] = []
        self.waiting: list[bool] = []
        self.field.chosen.connect(self.chosen.append)
        self.field.waiting.connect(self.waiting.append)
        self.field.show_key("Pause")

    def begin(self) -> None:
        self.field.setFocus()
        QTest.keyClick(self.field, Qt.Key.Key_Space)
        assert self.field.waits


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    made = Stage()
    with qtbot.waitExposed(made.window):
        made.window.show()
    made.window.activateWindow()
    qtbot.waitUntil(lambda: made.window.isActiveWindow(), timeout=15_000)
    yield made
    made.window.hide()
    made.window.deleteLater()


@pytest.mark.parametrize(
    ("key", "modifiers", "text"),
    [
        (Qt.Key.Key_Space, CTRL | ALT, "Ctrl+Alt+Space"),
        (Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier, "F9"),
        (Qt.Key.Key_Pause, Qt.KeyboardModifier.NoModifier, "Pause"),
        (Qt.Key.Key_V, CTRL | SHIFT, "Ctrl+Shift+V"),
        (Qt.Key.Key_Tab, CTRL, "Ctrl+Tab"),
        (Qt.Key.Key_Backtab, SHIFT, "Shift+Tab"),
        (Qt.Key.Key_PageUp, Qt.KeyboardModifier.MetaModifier, "Super+PgUp"),
        (Qt.Key.Key_Escape, CTRL, "Ctrl+Esc"),
    ],
)
def test_the_key_that_is_pressed_is_the_choice(
    stage: Stage, key: Qt.Key, modifiers: Qt.KeyboardModifier, text: str
) -> None:
    stage.begin()
    QTest.keyClick(stage.field, key, modifiers)
    assert stage.chosen == [text]
    assert stage.waiting == [True, False]
    assert not stage.field.waits


def test_escape_cancels(stage: Stage) -> None:
    stage.begin()
    assert "Esc" in stage.field.text()
    QTest.keyClick(stage.field, Qt.Key.Key_Escape)
    assert stage.chosen == []
    assert stage.waiting == [True, False]
    assert stage.field.text() == "Pause"


def test_pressed_by_a_screen_reader_it_takes_the_focus_and_waits(stage: Stage) -> None:
    stage.other.setFocus()
    stage.field.click()
    assert stage.field.hasFocus()
    assert stage.field.waits


def test_leaving_it_cancels(stage: Stage) -> None:
    stage.begin()
    stage.other.setFocus()
    assert stage.waiting == [True, False]
    assert stage.field.text() == "Pause"


def test_modifiers_alone_are_shown_and_waited_on(stage: Stage) -> None:
    stage.begin()
    QTest.keyPress(stage.field, Qt.Key.Key_Control)
    assert stage.field.text() == "Ctrl+…"
    QTest.keyRelease(stage.field, Qt.Key.Key_Control)
    assert "Esc cancels" in stage.field.text()
    assert stage.field.waits


def test_what_is_shown_meanwhile_does_not_end_the_wait(stage: Stage) -> None:
    stage.begin()
    stage.field.show_key("F9")
    assert "Esc cancels" in stage.field.text()
    QTest.keyClick(stage.field, Qt.Key.Key_Escape)
    assert stage.field.text() == "F9"


def test_a_screen_reader_is_told_what_to_do(stage: Stage) -> None:
    assert stage.field.accessibleDescription() == "Pause. Press to choose another key."
    stage.begin()
    assert stage.field.accessibleDescription() == "Press the keys now. Escape cancels."
    QTest.keyClick(stage.field, Qt.Key.Key_Escape)
    stage.field.show_key("")
    assert stage.field.accessibleDescription().startswith("No key")
